// SPDX-License-Identifier: BSD-3-Clause
// The manifests below docs/containers against Kubernetes' published OpenAPI, twice: by its schemas,
// which know types and what is required, and by TypeScript's, which refuse fields that are not
// there. Copies that are spoiled on purpose have to be refused. And least privilege.
// usage: node check.mjs DIRECTORY, where package.json's dependencies are beside this file
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { DaemonSet } from 'kubernetes-models/apps/v1';
import { Pod } from 'kubernetes-models/v1';
import YAML from 'yaml';

const directory = process.argv[2];
const kinds = {
  DaemonSet: { model: DaemonSet, from: 'kubernetes-models/apps/v1' },
  Pod: { model: Pod, from: 'kubernetes-models/v1' },
};
// What docs/kubernetes.md gives the reasons for, and what "drop: [ALL]" leaves.
const rights = ['BPF', 'PERFMON', 'SYS_PTRACE', 'SYS_ADMIN', 'SYS_NICE', 'DAC_READ_SEARCH'];
let passed = 0;
let failed = 0;

function check(what, holds, reason = '') {
  if (holds) passed++;
  else failed++;
  console.log(`${holds ? 'ok  ' : 'FAIL'} ${what}${holds ? '' : `: ${reason}`}`);
}

function read(name) {
  return YAML.parse(readFileSync(`${directory}/${name}`, 'utf8'));
}

function podOf(manifest) {
  return manifest.kind === 'Pod' ? manifest.spec : manifest.spec.template.spec;
}

// What the API server would be sent for the container that kubectl adds to a pod.
function podWithEphemeral(custom) {
  const name = { name: 'cozbpf', image: 'cozbpf', command: ['sleep', '1h'] };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'server' },
    spec: {
      containers: [{ name: 'server', image: 'server' }],
      ephemeralContainers: [{ ...custom, ...name, targetContainerName: 'server' }],
    },
  };
}

function refusal(manifest) {
  try {
    new kinds[manifest.kind].model(manifest).validate();
    return '';
  } catch (e) {
    return e.message || 'refused';
  }
}

// One run of the compiler for all: it takes a second or two. The numbers of those with an error.
function untyped(manifests) {
  const files = manifests.map((m, i) => {
    const type = `I${m.kind}`;
    const text = `import type { ${type} } from '${kinds[m.kind].from}';\n` +
      `export const manifest: ${type} = ${JSON.stringify(m)};\n`;
    writeFileSync(`m${i}.ts`, text);
    return `m${i}.ts`;
  });
  const tsc = spawnSync('node', ['node_modules/typescript/lib/tsc.js', '--noEmit', '--strict',
    '--skipLibCheck', '--module', 'nodenext', '--moduleResolution', 'nodenext', ...files],
  { encoding: 'utf8' });
  const errors = tsc.stdout.split('\n').filter((line) => line.includes('error'));
  const of = (i) => errors.filter((line) => line.startsWith(`m${i}.ts(`)).join('\n');
  const foreign = errors.filter((line) => !/^m\d+\.ts\(/.test(line)).join('\n');
  return { of, foreign };
}

const cases = [
  { name: 'daemonset.yaml', manifest: read('daemonset.yaml') },
  { name: 'debug-pod.yaml', manifest: read('debug-pod.yaml') },
  { name: 'debug-container.yaml', manifest: podWithEphemeral(read('debug-container.yaml')) },
];
const spoilt = [
  ['a type', (c) => { c.securityContext.privileged = 'yes'; }, true],
  ['a type within a list', (c) => { c.securityContext.capabilities.add = 'BPF'; }, true],
  ['no name', (c) => { delete c.name; }, true],
  ['a field that is none', (c) => { c.securityContext.readOnlyRootFileSystem = true; }, false],
];
const all = [];
for (const { name, manifest } of cases) {
  all.push({ what: `${name} as it is`, manifest, good: true, known: true });
  for (const [what, spoil, known] of spoilt) {
    const copy = structuredClone(manifest);
    const pod = podOf(copy);
    spoil((pod.ephemeralContainers ?? pod.containers)[0]);
    all.push({ what: `${name} with ${what} wrong`, manifest: copy, good: false, known });
  }
}
const types = untyped(all.map((c) => c.manifest));
check('the types themselves', !types.foreign, types.foreign);
all.forEach(({ what, manifest, good, known }, i) => {
  if (known) {
    const schema = refusal(manifest);
    check(`by the schema: ${what}`, good === !schema, schema || 'taken');
  }
  check(`by the types: ${what}`, good === !types.of(i), types.of(i) || 'taken');
});

for (const { name, manifest } of cases) {
  const pod = podOf(manifest);
  const container = (pod.ephemeralContainers ?? pod.containers)[0];
  const context = container.securityContext;
  check(`${name}: not privileged`, !context.privileged);
  check(`${name}: a read-only root`, context.readOnlyRootFilesystem === true);
  check(`${name}: all capabilities dropped`, context.capabilities.drop.join() === 'ALL');
  check(`${name}: those that are told`, context.capabilities.add.join() === rights.join());
  check(`${name}: neither the host's network nor IPC`, !pod.hostNetwork && !pod.hostIPC);
  check(`${name}: no file of the host`, !(pod.volumes ?? []).some((v) => v.hostPath));
  if (!pod.ephemeralContainers)
    check(`${name}: no token`, pod.automountServiceAccountToken === false);
}
const page = readFileSync(`${directory}/../kubernetes.md`, 'utf8');
for (const right of rights)
  check(`docs/kubernetes.md tells why ${right}`, page.includes(`| \`${right}\` |`));
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
