# SPDX-License-Identifier: BSD-3-Clause
# Builds everything under build/. `make help` explains targets and knobs.
.DELETE_ON_ERROR:
.SECONDARY:
.SUFFIXES:

# ARCH=arm64 on another machine: a cross build, with the libraries of scripts/arm64-sysroot.sh.
HOST_ARCH := $(shell uname -m | sed -e 's/x86_64/x86/' -e 's/aarch64/arm64/')
ARCH ?= $(HOST_ARCH)
TRIPLE_x86 := x86_64-linux-gnu
TRIPLE_arm64 := aarch64-linux-gnu
TRIPLE := $(TRIPLE_$(ARCH))
CROSS := $(if $(filter-out $(HOST_ARCH),$(ARCH)),$(TRIPLE)-)
SYSROOT := $(if $(CROSS),/var/tmp/cozbpf-$(ARCH)/root)

# default: make's own cc, g++ and ld
tool = $(if $(filter default undefined,$(origin $(1))),$(2),$($(1)))
CC := $(call tool,CC,$(CROSS)gcc$(SYSROOT:%= --sysroot=%))
CXX := $(call tool,CXX,$(CROSS)g++$(SYSROOT:%= --sysroot=%))
LD := $(call tool,LD,$(CROSS)ld)
AR := $(call tool,AR,$(CROSS)ar)
OBJCOPY ?= $(CROSS)objcopy
CLANG ?= clang
LLVM_STRIP ?= llvm-strip
PROTOC_C ?= protoc-c
BPFTOOL ?= $(firstword $(shell command -v bpftool 2>/dev/null) /usr/sbin/bpftool)
BUILD ?= build$(CROSS:%=/$(ARCH))
CHART_JS ?= /usr/share/javascript/chart.js/chart.min.js
PREFIX ?= /usr/local
INCLUDEDIR ?= $(PREFIX)/include
DESTDIR ?=
V ?= 0
TIME ?= 60
KERNELS ?= 6.1 6.18 7.3
# The machine's own, or one of scripts/go-toolchains.sh.
GO ?= $(firstword $(shell command -v go 2>/dev/null) $(wildcard /var/tmp/cozbpf-go/*/go))
WERROR ?= $(if $(CI),1,0)
VERSION := 0.1.0
BUILD_ID := $(shell git describe --always --dirty 2>/dev/null || echo unknown)

Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@printf '  %-8s %s\n' $(1) $(2);)

WERROR_FLAG := $(if $(filter 1,$(WERROR)),-Werror)
WARN := -Wall -Wextra -Wno-unused-parameter -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	$(WERROR_FLAG)
CFLAGS ?= -O2 -g
# RULE_SWITCHES=1: accounting rules can be turned off (make bench-rules).
RULE_DEFINES := $(if $(RULE_SWITCHES),-DCOZBPF_RULE_SWITCHES)
DEFINES := -DCOZBPF_VERSION='"$(VERSION)"' -DCOZBPF_BUILD='"$(BUILD_ID)"' \
	-DCOZBPF_LIBDIR='"$(PREFIX)/lib/cozbpf"'
CPPFLAGS_ALL := -D_GNU_SOURCE $(RULE_DEFINES) -Iinclude -Iuser -I$(BUILD)/gen
CFLAGS_ALL := -std=gnu11 $(CFLAGS) $(WARN) -fno-strict-aliasing
PURE_LIBS := -ldw -lelf -llzma -lcapstone -lcjson -liberty -lprotobuf-c -lz -lncursesw -ltinfo -lm
LIBS := -lbpf $(PURE_LIBS) -lpthread
BPF_CFLAGS := $(RULE_DEFINES) -O2 -g -target bpf -mcpu=v3 -D__TARGET_ARCH_$(ARCH) -Iinclude \
	-Ivmlinux -Wall $(WERROR_FLAG) \
	-idirafter $(SYSROOT)/usr/include/$(TRIPLE)
# The handler runs on any stack at any moment: no stack protector (TLS), no vector registers, no
# libc. On arm64 atomics must not call libgcc's helpers either, which ask libc.
SHIM_FLAGS_x86 := -fcf-protection=none
# No branch protection there: the handler's entry is no landing pad, so the library must not be
# marked as having them.
SHIM_FLAGS_arm64 := -mno-outline-atomics -mbranch-protection=none
SHIM_CFLAGS := -O2 -g -std=gnu11 $(WARN) -Iinclude -Iuser -fPIC -ffreestanding \
	-fno-stack-protector $(SHIM_FLAGS_$(ARCH)) -mgeneral-regs-only -fvisibility=hidden \
	-fno-asynchronous-unwind-tables

BPF_SRCS := $(wildcard bpf/*.bpf.c)
BPF_OBJS := $(BPF_SRCS:bpf/%.bpf.c=$(BUILD)/bpf/%.bpf.o)
USER_SRCS := $(sort $(shell find user -name '*.c' ! -path 'user/shim/*'))
# Code that is generated; below asan/ and fuzz/ as well.
GEN_OBJ := gen/profile.pb-c.o
USER_OBJS := $(USER_SRCS:%.c=$(BUILD)/%.o) $(BUILD)/$(GEN_OBJ)
# What unit tests link with: everything that needs neither root nor a kernel. Fuzzers link all of
# it, so the files need no others.
PURE_SRCS := $(filter user/core/% user/symbols/% user/report/% user/cmd/options% \
	user/cmd/outfile.c user/run/blocklog.c user/run/files.c user/run/target_file.c \
	user/kernel/events.c user/kernel/kallsyms.c user/kernel/pause_mode.c \
	$(addprefix user/target/,cbpf.c cgroup.c claims.c identity.c keeper.c machine.c maps.c \
		owner.c procfs.c program.c quota.c tracee.c tracee_x86.c tracee_arm64.c),\
	$(USER_SRCS))
# ASan finds by itself what UBSan's null and object-size find, for a quarter of the tests' time.
SANITIZE := -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=undefined \
	-fno-sanitize=null,object-size -fno-omit-frame-pointer
ASAN_FLAGS := $(SANITIZE)
TSAN := -O1 -g -fsanitize=thread -fno-omit-frame-pointer
# clang's analyzer judges these better: gcc 12 sees neither what a flag has taken in by |= nor that
# a structure owns memory.
GCC_ANALYZER := -O2 -g -fanalyzer $(addprefix -Wno-analyzer-,malloc-leak null-dereference \
	possible-null-dereference use-of-uninitialized-value)
ASAN_OBJS := $(USER_SRCS:%.c=$(BUILD)/asan/%.o) $(BUILD)/asan/$(GEN_OBJ)
PURE_ASAN_OBJS := $(PURE_SRCS:%.c=$(BUILD)/asan/%.o) $(BUILD)/asan/$(GEN_OBJ)
PURE_FUZZ_OBJS := $(PURE_SRCS:%.c=$(BUILD)/fuzz/%.o) $(BUILD)/fuzz/$(GEN_OBJ)
# FUZZ_QUICK=1: the unit tests' objects, gcc's, rather than clang's own ones. These tell no
# coverage, which a second for each fuzzer makes nothing of.
FUZZERS := $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/$(if $(FUZZ_QUICK),quick-)%,\
	$(wildcard tests/fuzz/fuzz_*.c))
UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/tests/unit/%,$(wildcard tests/unit/test_*.c))
WORKLOAD_SRCS := $(wildcard tests/workloads/*.c tests/workloads/*.cc)
# In Go, where a toolchain is there and the build is none for another processor.
GO_WORKLOADS := $(if $(GO),$(if $(CROSS),,$(patsubst tests/workloads/go/%.go,\
	$(BUILD)/tests/workloads/go-%,$(filter-out %/work.go,\
	$(wildcard tests/workloads/go/*.go)))))
WORKLOADS := $(basename $(WORKLOAD_SRCS:%=$(BUILD)/%)) $(GO_WORKLOADS)
TOOL := $(BUILD)/cozbpf
SHIM := $(BUILD)/libcozbpf-shim.so
SHIM_OBJS := $(addprefix $(BUILD)/shim/,shim.o pause.o counters.o)

all: $(TOOL) $(SHIM) ## build the tool and its shim (build/cozbpf)

# Every rule that compiles writes, by -MMD, which headers it has read.
OBJS := $(USER_OBJS) $(ASAN_OBJS) $(PURE_FUZZ_OBJS) $(BPF_OBJS) $(SHIM_OBJS)
-include $(OBJS:%.o=%.d) $(addsuffix .d,$(UNIT_TESTS) $(FUZZERS) $(WORKLOADS) \
	$(BUILD)/tests/bpf/blocks $(addprefix $(BUILD)/tests/bench/,blocks foreign leveldb \
	libsynced.so noise outsider rest slowdir speed sqlite startup))

$(TOOL): $(USER_OBJS)
	$(call say,LINK,$@)$(CC) $(CFLAGS_ALL) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

# The generated headers have to be there before the first -MMD.
$(filter $(BUILD)/user/kernel/% $(BUILD)/asan/user/kernel/%,$(OBJS)): $(BUILD)/gen/cozbpf.skel.h
$(foreach d,user asan/user,$(BUILD)/$(d)/target/inject.o): $(BUILD)/gen/shim_blob.h
$(foreach d,user asan/user fuzz/user,$(BUILD)/$(d)/report/html.o): $(BUILD)/gen/page.h
$(foreach d,user asan/user fuzz/user,$(BUILD)/$(d)/report/blocks_html.o): \
	$(BUILD)/gen/blocks_page.h
$(foreach d,user asan/user fuzz/user,$(BUILD)/$(d)/core/places/syscalls.o): \
	$(BUILD)/gen/syscall_names.h

$(foreach d,user asan/user fuzz/user,$(BUILD)/$(d)/report/pprof.o): $(BUILD)/gen/profile.pb-c.h

# Version, commit and prefix are compiled into five files only, and again when one of them has
# changed.
DEFINED := $(foreach d,user asan/user,\
	$(addprefix $(BUILD)/$(d)/,main.o cmd/report.o run/peers.o run/publish.o \
		target/launch.o))
$(DEFINED): CPPFLAGS_ALL += $(DEFINES)
$(DEFINED): $(BUILD)/gen/defines
$(BUILD)/gen/defines: always
	@mkdir -p $(@D)
	@echo '$(VERSION) $(BUILD_ID) $(PREFIX)' | cmp -s - $@ || \
		echo '$(VERSION) $(BUILD_ID) $(PREFIX)' >$@

$(BUILD)/gen/profile.pb-c.c $(BUILD)/gen/profile.pb-c.h &: user/report/pprof/profile.proto
	@mkdir -p $(@D)
	$(call say,PROTO,$(BUILD)/gen/profile.pb-c.c)$(PROTOC_C) --proto_path=$(<D) \
		--c_out=$(BUILD)/gen $<

$(BUILD)/gen/%.o: $(BUILD)/gen/%.c
	$(call say,CC,$@)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

$(BUILD)/bpf/%.bpf.o: bpf/%.bpf.c
	@mkdir -p $(@D)
	$(call say,BPF,$@)$(CLANG) $(BPF_CFLAGS) -MMD -MP -c -o $@ $< && $(LLVM_STRIP) -g $@

$(BUILD)/bpf/cozbpf.linked.o: $(BPF_OBJS)
	$(call say,BPFLINK,$@)$(BPFTOOL) gen object $@ $^

$(BUILD)/gen/cozbpf.skel.h: $(BUILD)/bpf/cozbpf.linked.o
	@mkdir -p $(@D)
	$(call say,SKEL,$@){ echo '/* NOLINTBEGIN: not our code */'; \
		$(BPFTOOL) gen skeleton $< name cozbpf_bpf && echo '/* NOLINTEND */'; } >$@

$(BUILD)/shim/%.o: user/shim/%.c
	@mkdir -p $(@D)
	$(call say,SHIM,$@)$(CC) $(SHIM_CFLAGS) -MMD -MP -c -o $@ $<

$(SHIM): $(SHIM_OBJS)
	$(call say,SHIM,$@)$(CC) $(SHIM_CFLAGS) -shared -nostdlib \
		-Wl,-z,now,-z,relro,-z,noexecstack,--build-id -o $@ $^

# The same handler as bytes to be written into a process.
$(BUILD)/shim/blob.bin: $(BUILD)/shim/pause.o user/shim/blob.lds
	$(call say,BLOB,$@)$(LD) -T user/shim/blob.lds --build-id=none -o $(@:.bin=.elf) $< && \
		$(OBJCOPY) -O binary $(@:.bin=.elf) $@

$(BUILD)/gen/shim_blob.h: $(BUILD)/shim/blob.bin
	@mkdir -p $(@D)
	$(call say,BLOB,$@){ echo 'static const unsigned char shim_blob[] = {'; \
		od -An -v -tu1 $< | sed 's/ *\([0-9][0-9]*\)/\1,/g'; echo '};'; } >$@

# The page of `cozbpf plot`, with Chart.js in it.
$(BUILD)/gen/page.h: scripts/embed-page.sh $(wildcard user/report/html/*) $(CHART_JS)
	@mkdir -p $(@D)
	$(call say,PAGE,$@)scripts/embed-page.sh page $(CHART_JS) >$@

# The page of `cozbpf blocks report --html`.
$(BUILD)/gen/blocks_page.h: scripts/embed-page.sh $(wildcard user/report/html/*)
	@mkdir -p $(@D)
	$(call say,PAGE,$@)scripts/embed-page.sh blocks >$@

# Numbers of system calls differ between processors. Two of the macros are no calls.
$(BUILD)/gen/syscall_names.h:
	@mkdir -p $(@D)
	$(call say,NAMES,$@)echo '#include <asm/unistd.h>' | $(CC) -E -dM - | \
		sed -nE -e '/__NR_(syscalls|arch_specific_syscall) /d' \
		-e 's/^#define __NR_([a-z0-9_]+) .*/[__NR_\1] = "\1",/p' | \
		$(CC) -include asm/unistd.h -E -P - | sed -n '/^\[[0-9]*\]/p' | sort >$@

# Said by embed-page.sh, with what to do, rather than by make.
$(CHART_JS):

$(BUILD)/asan/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(ASAN_FLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/asan/gen/%.o: $(BUILD)/gen/%.c
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(ASAN_FLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/asan/cozbpf: $(ASAN_OBJS)
	$(call say,LINK,$@)$(CC) $(CFLAGS_ALL) $(ASAN_FLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/asan/libcozbpf-shim.so: $(SHIM)
	@mkdir -p $(@D)
	$(Q)cp $< $@

$(BUILD)/fuzz/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CLANG) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(SANITIZE) \
		-fsanitize=fuzzer-no-link -MMD -MP -c -o $@ $<

$(BUILD)/fuzz/gen/%.o: $(BUILD)/gen/%.c
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CLANG) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(SANITIZE) \
		-fsanitize=fuzzer-no-link -MMD -MP -c -o $@ $<

define FUZZER
	@mkdir -p $(@D)
	$(call say,FUZZ,$@)$(CLANG) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(SANITIZE) -fsanitize=fuzzer \
		-DCOZBPF_FUZZ_BESIDE='"$(abspath $(BUILD))/fuzz/seeds/programs"' \
		-MMD -MP -MF $@.d -MT $@ -o $@ $< $(filter %.o %.a,$^) $(PURE_LIBS)
endef
$(BUILD)/fuzz/fuzz_%: tests/fuzz/fuzz_%.c $(PURE_FUZZ_OBJS)
	$(FUZZER)
$(BUILD)/fuzz/quick-fuzz_%: tests/fuzz/fuzz_%.c $(BUILD)/asan/pure.a
	$(FUZZER)

$(BUILD)/fuzz/seeds/programs/shared: tests/fuzz/seeds.sh
	$(call say,SEEDS,$(BUILD)/fuzz/seeds)tests/fuzz/seeds.sh $(BUILD)/fuzz/seeds

# Of an archive a test gets what it uses, which takes half of the time to link.
$(BUILD)/asan/pure.a: $(PURE_ASAN_OBJS)
	$(call say,AR,$@)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/tests/unit/%: tests/unit/%.c $(BUILD)/asan/pure.a
	@mkdir -p $(@D)
	$(call say,TEST,$@)$(CC) $(CPPFLAGS_ALL) -Itests/unit \
		-DCOZBPF_FIXTURES='"$(abspath $(BUILD))/fixtures/$*"' $(CFLAGS_ALL) $(ASAN_FLAGS) \
		-MMD -MP -o $@ $< $(BUILD)/asan/pure.a $(PURE_LIBS)

# Workloads are the programs under test: hardly optimised, so each line keeps its code.
$(BUILD)/tests/workloads/openmp: WORK_FLAGS := -fopenmp
$(BUILD)/tests/workloads/%: tests/workloads/%.c
	@mkdir -p $(@D)
	$(call say,WORK,$@)$(CC) -O1 -g -fno-omit-frame-pointer -MMD -MP -Iinclude \
		-Itests/workloads $(WORK_FLAGS) -o $@ $< -lpthread -lm

# Optimised, as templates are used.
$(BUILD)/tests/workloads/%: tests/workloads/%.cc
	@mkdir -p $(@D)
	$(call say,WORK,$@)$(CXX) -std=c++20 -O2 -g -MMD -MP -Iinclude -Itests/workloads \
		-o $@ $< -lpthread -lm

# What is built depends on these sources alone: no modules, no network, no other toolchain.
GO_ENV := GOTOOLCHAIN=local GOPROXY=off GOFLAGS= GO111MODULE=off GOPATH=$(abspath $(BUILD))/go \
	GOCACHE=$(abspath $(BUILD))/go/cache
$(GO_WORKLOADS): $(BUILD)/tests/workloads/go-%: tests/workloads/go/%.go tests/workloads/go/work.go
	@mkdir -p $(@D)
	$(call say,GO,$@)$(GO_ENV) CGO_ENABLED=0 $(GO) build -o $@ $^

# The same without names, but for the progress point's. The line under test is a function.
STRIPPED := $(patsubst tests/workloads/%.c,$(BUILD)/tests/stripped/%,\
	$(filter %.c,$(WORKLOAD_SRCS)))
$(BUILD)/tests/stripped/openmp: WORK_FLAGS := -fopenmp
$(BUILD)/tests/stripped/%: tests/workloads/%.c tests/workloads/workload.h
	@mkdir -p $(@D)
	$(call say,WORK,$@)$(CC) -O1 -fno-omit-frame-pointer -DWORK_LINE_FUNCTION -Iinclude \
		-Itests/workloads -Wl,--export-dynamic-symbol=progress $(WORK_FLAGS) \
		-o $@.full $< -lpthread -lm && strip -o $@ $@.full

# Reads debug information by our own readers and by libdw's; tests/bench/bigdebug.sh compares them.
STARTUP_OBJS := $(filter $(BUILD)/user/core/% $(BUILD)/user/symbols/%,$(USER_OBJS))
$(BUILD)/tests/bench/startup: tests/bench/startup.c $(STARTUP_OBJS)
	@mkdir -p $(@D)
	$(call say,BENCH,$@)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -MF $@.d -MT $@ -o $@ \
		$< $(STARTUP_OBJS) $(PURE_LIBS)

# Reads and analyses a large log of blocks.
$(BUILD)/tests/bench/blocks: tests/bench/blocks.c $(filter $(BUILD)/user/core/%,$(USER_OBJS))
	@mkdir -p $(@D)
	$(call say,BENCH,$@)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -MF $@.d -MT $@ -o $@ \
		$< $(filter %.o,$^) $(PURE_LIBS)

# Writes profiles of a fleet (tests/bench/merge.sh).
$(BUILD)/tests/bench/merge: tests/bench/merge.c $(filter $(BUILD)/user/core/%,$(USER_OBJS))
	@mkdir -p $(@D)
	$(call say,BENCH,$@)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -MF $@.d -MT $@ -o $@ \
		$< $(filter %.o,$^) $(PURE_LIBS)

# Beside the workloads: noise on purpose, and a fixed loop that tells how fast the CPUs are.
BENCH_PROGRAMS := $(addprefix $(BUILD)/tests/bench/,block_times noise outsider rest speed)
$(BENCH_PROGRAMS): $(BUILD)/tests/bench/%: tests/bench/%.c
	@mkdir -p $(@D)
	$(call say,BENCH,$@)$(CC) -O1 -g -Wno-stringop-overflow -MMD -MP -Itests/workloads \
		-o $@ $< -lpthread

# Real programs, and what stands between them and the bench. Where their headers are missing,
# real.py leaves them out.
REAL_PROGRAMS := $(addprefix $(BUILD)/tests/bench/,slowdir foreign sqlite leveldb)
SYNCED := $(BUILD)/tests/bench/libsynced.so
$(BUILD)/tests/bench/slowdir: REAL_FLAGS := -I/usr/include/fuse3 -lfuse3
$(BUILD)/tests/bench/sqlite: REAL_FLAGS := -Wl,--no-as-needed $(SYNCED) -lsqlite3
$(BUILD)/tests/bench/leveldb: REAL_FLAGS := -Wl,--no-as-needed $(SYNCED) -lleveldb
$(REAL_PROGRAMS): $(BUILD)/tests/bench/%: tests/bench/%.c $(SYNCED)
	$(call say,BENCH,$@)$(CC) -O1 -g -fno-omit-frame-pointer -MMD -MP -Itests/workloads \
		-o $@ $< $(REAL_FLAGS) -Wl,-rpath,'$$ORIGIN' -lpthread
$(SYNCED): tests/bench/synced.c
	@mkdir -p $(@D)
	$(call say,BENCH,$@)$(CC) -O1 -g -MMD -MP -MF $@.d -MT $@ -Itests/workloads \
		-fPIC -shared -Wl,-soname,$(@F) -o $@ $<

# Each mode of pausing; pages of 4 and of 16 kB.
ARM64_KERNELS ?= 6.1 6.12 6.18 6.18-16k
# What holds a process by the tool's own means, and what looks whether it notices.
HELD := $(addprefix $(BUILD)/tests/arm64/,callers held holder)
HOLDER_OBJS := $(filter $(BUILD)/user/core/text/% \
	$(addprefix $(BUILD)/user/target/,keeper.o procfs.o tracee%),$(USER_OBJS))
$(BUILD)/tests/arm64/held: tests/arm64/held.c tests/e2e/fixtures/fixture.h
	@mkdir -p $(@D)
	$(call say,TEST,$@)$(CC) $(CFLAGS_ALL) -O1 -fno-omit-frame-pointer -o $@ $< -lpthread
$(BUILD)/tests/arm64/holder: tests/arm64/holder.c $(HOLDER_OBJS)
	@mkdir -p $(@D)
	$(call say,TEST,$@)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -o $@ $^ -lpthread

# Fixtures that scripts want without flags (`fixture` of tests/e2e/lib.sh), built here since an
# emulated machine takes seconds for each.
FIXTURES := $(patsubst %,$(BUILD)/tests/e2e/fixtures/%,$(sort $(shell \
	sed -nE 's/^[^\#]*\<fixture ([a-z_]+)$$/\1/p' tests/*/*.sh)))
# Those of tests/arm64; callers has no frame pointers there.
ARM64_FIXTURES := $(addprefix $(BUILD)/tests/e2e/fixtures/,running speed waits)
$(BUILD)/tests/e2e/fixtures/%: tests/e2e/fixtures/%.c tests/e2e/fixtures/fixture.h
	@mkdir -p $(@D)
	$(call say,TEST,$@)$(CC) -O1 -g -fno-omit-frame-pointer -Wall -Wextra -o $@ $< -lpthread
$(BUILD)/tests/arm64/callers: tests/e2e/fixtures/callers.c
	@mkdir -p $(@D)
	$(call say,TEST,$@)$(CC) -O1 -g -fomit-frame-pointer -Wall -Wextra -o $@ $< -lpthread

# Tests of which `make check` leaves out builds by other flags (CONTRIBUTING.md).
UNIT_BRIEF := $(addprefix test_,cheapsite cozsites find markers spinsite symbols)
# Of what a test has freed ASan keeps 8 MB from use, not 256, which saves long tests a fifth.
RUN_UNIT = @COZBPF_TEST_JOBS=$${COZBPF_TEST_JOBS:-$$(nproc)} \
	ASAN_OPTIONS=quarantine_size_mb=8:$$ASAN_OPTIONS scripts/run-tests.sh
check: export COZBPF_TEST_BRIEF = $(UNIT_BRIEF)
check: $(UNIT_TESTS) ## unit tests under ASan and UBSan; needs no root
	$(RUN_UNIT) unit $(UNIT_TESTS) tests/vm/selftest.sh

check-long: $(UNIT_BRIEF:%=$(BUILD)/tests/unit/%) ## those of them that it leaves out in part
	$(RUN_UNIT) 'unit, long' $^

# The kernel side of `cozbpf blocks`, by its own interface; what asks the verifier.
BPF_TESTS := $(BUILD)/tests/bpf/blocks $(BUILD)/tests/bpf/verified.so
$(BUILD)/tests/bpf/verified.so: tests/bpf/verified.c
	@mkdir -p $(@D)
	$(call say,TEST,$@)$(CC) -O1 -shared -fPIC -Wall -Wextra -o $@ $<
$(BUILD)/tests/bpf/blocks: tests/bpf/blocks.c $(filter-out $(BUILD)/user/main.o,$(USER_OBJS))
	@mkdir -p $(@D)
	$(call say,TEST,$@)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -MF $@.d -MT $@ -o $@ \
		$(filter %.c %.o,$^) $(LIBS)

check-vm check-vm-ci: $(BPF_TESTS) $(FIXTURES)

check-bpf: all $(BPF_TESTS) $(FIXTURES)
check-bpf: ## load and verify the BPF objects, instruction budgets; needs root
	@scripts/run-tests.sh bpf $(wildcard tests/bpf/*.sh)

# What judges no speeds, and takes no other profiler's probes for its own.
E2E_IN_PAIRS := $(patsubst %,tests/e2e/%.sh,attach attribution blocks-report children containers \
	coroutines coz-header deadman doctor filters go-unharmed libraries lines live markers \
	merge outputs passthrough points shim-rules signals usdt user)
# Of that, what leaves the CPUs alone most of the time: beside those that judge speeds, one by one.
E2E_LIGHT := $(patsubst %,tests/e2e/%.sh,blocks-page compare errors plot refuse report viewer)
# What CI leaves out, so that it has time for other kernels, and scripts of which it leaves out
# parts (CONTRIBUTING.md).
E2E_LONG := $(patsubst %,tests/e2e/%.sh,clocks crowd debuginfod duty edges gains go-server \
	go-stripped goroutines jit latency machine nodes off-cpu pair pauses quota reader spin \
	startup suggest sync then-experiment waits)
E2E_BRIEF := attach attribution coz-header errors filters functions go-unharmed libraries \
	live passthrough shim-rules usdt
E2E_CI := $(filter-out %/lib.sh $(E2E_LONG),$(wildcard tests/e2e/*.sh))

# FEW_WORKLOADS=1: those that scripts of CI name, and what accuracy.sh --ci runs. A script that
# names another one by a variable does not find it, and fails.
FEW := abab barrier $(if $(FEW_WORKLOADS),$(notdir $(shell grep -ohE \
	'\$$workloads/[a-z0-9-]+' $(E2E_CI) $(wildcard tests/bpf/*.sh tests/vm/*.sh))))
workloads: $(if $(FEW_WORKLOADS),$(filter $(FEW:%=$(BUILD)/tests/workloads/%),$(WORKLOADS)),\
	$(WORKLOADS)) $(BENCH_PROGRAMS) ## build the programs of known behaviour

check-e2e: export COZBPF_TEST_BRIEF = $(E2E_BRIEF)
check-e2e: all workloads $(FIXTURES) ## the tool on programs of known behaviour; needs root
	@COZBPF_TEST_JOBS=2 scripts/run-tests.sh 'e2e, in pairs' $(E2E_IN_PAIRS); rc=$$?; \
		scripts/run-tests.sh 'e2e, light' $(E2E_LIGHT) >$(BUILD)/e2e-light.log 2>&1 & \
		scripts/run-tests.sh e2e \
			$(filter-out $(E2E_IN_PAIRS) $(E2E_LIGHT),$(E2E_CI)) || rc=1; \
		wait $$! || rc=1; cat $(BUILD)/e2e-light.log; exit $$rc

check-e2e-long: all workloads $(FIXTURES)
check-e2e-long: ## those of them that CI leaves out, in whole or in part; needs root
	@scripts/run-tests.sh 'e2e, long' $(E2E_LONG) $(E2E_BRIEF:%=tests/e2e/%.sh)

check-machine: all ## what takes CPUs offline: hotplug; needs root and a machine of its own
	@scripts/run-tests.sh machine $(wildcard tests/machine/*.sh)

check-vm: all workloads ## tests on other kernels, in virtual machines; needs root, qemu; long
	@tests/vm/run.sh $(KERNELS) $(if $(SCRIPTS),-- $(SCRIPTS))

check-vm-ci: all workloads ## those of them that CI runs, on Debian's kernels; needs root, qemu
	@tests/vm/ci.sh

check-fault: all ## system calls of ours that go wrong (ALL=1: each of them; long); needs root
	@COZBPF_TEST_TIMEOUT=$(if $(ALL),36000,300) scripts/run-tests.sh fault \
		$(filter-out %/lib.sh,$(wildcard tests/fault/*.sh))

soak: all ## an hour on nginx and PostgreSQL under load; needs root and the network (SOAK=options)
	@tests/soak/soak.sh $(SOAK)

check-soak: all ## a minute and a half of that; needs root and the network
	@scripts/run-tests.sh soak tests/soak/short.sh

check-arm64: ## tests on arm64 kernels, in an emulator; needs root, qemu, the network; long
	@scripts/arm64-sysroot.sh
	@$(MAKE) --no-print-directory ARCH=arm64 BUILD=$(BUILD)/arm64 all workloads arm64-tests
	@tests/vm/run.sh $(ARM64_KERNELS:%=arm64-%) $(if $(SCRIPTS),-- $(SCRIPTS))
arm64-tests: $(HELD) $(ARM64_FIXTURES) $(BPF_TESTS)

check-slurm: all ## jobs of Slurm; installs what it needs; needs root and the network; 6 min
	@COZBPF_TEST_TIMEOUT=600 scripts/run-tests.sh slurm \
		$(filter-out %/cluster.sh,$(wildcard tests/slurm/*.sh))

check-manifests: ## manifests for Kubernetes against its schemas; needs the network
	@scripts/run-tests.sh manifests $(wildcard tests/manifests/*.sh)

check-real: all workloads
check-real: ## real programs in containers; installs what it needs; needs root and the network
	@scripts/run-tests.sh real $(wildcard tests/real/*.sh)

check-docs: man all ## the man page, README and docs/ against the tool and the tree
	@scripts/run-tests.sh docs $(wildcard tests/docs/*.sh)

man: ## the man page formats without a warning
	$(Q)mandoc -Tlint -W warning docs/cozbpf.1
	$(Q)! groff -mandoc -Tutf8 -ww -z docs/cozbpf.1 2>&1 | grep .

asan: $(BUILD)/asan/cozbpf $(BUILD)/asan/libcozbpf-shim.so
asan: ## the tool under ASan and UBSan: build/asan/cozbpf (COZBPF=... make check-e2e)

fuzz: $(FUZZERS) $(BUILD)/fuzz/seeds/programs/shared
fuzz: ## all fuzzers of tests/fuzz for TIME seconds; findings and corpus stay in build/fuzz
	@scripts/fuzz.sh $(TIME) $(FUZZERS)

tsan: ## the tool under TSan: build/tsan/asan/cozbpf
	$(Q)$(MAKE) --no-print-directory BUILD=$(BUILD)/tsan ASAN_FLAGS='$(TSAN)' asan

E2E := check-e2e check-e2e-long
check-sanitized: asan tsan workloads
check-sanitized: ## the end-to-end tests with the tool under ASan and UBSan, then TSan; root; long
	$(Q)COZBPF_TEST_TIMEOUT=900 COZBPF=$(BUILD)/asan/cozbpf $(MAKE) $(E2E)
	$(Q)COZBPF_TEST_TIMEOUT=900 COZBPF=$(BUILD)/tsan/asan/cozbpf $(MAKE) $(E2E)

COVERAGE := $(MAKE) --no-print-directory BUILD=$(BUILD)/coverage \
	ASAN_FLAGS='-O0 -g --coverage -include scripts/coverage.h'
coverage: ## lines covered by the unit tests, per file and folder
	$(Q)rm -rf $(BUILD)/coverage
	$(Q)$(COVERAGE) check; rc=$$?; \
		scripts/coverage.sh $(BUILD)/coverage user/core=90 && exit $$rc

coverage-all: ## the same with the end-to-end tests; needs root; long
	$(Q)rm -rf $(BUILD)/coverage
	$(Q)$(COVERAGE) check check-long asan workloads; COZBPF_TEST_TIMEOUT=900 \
		COZBPF=$(BUILD)/coverage/asan/cozbpf $(COVERAGE) $(E2E); rc=$$?; \
		scripts/coverage.sh $(BUILD)/coverage user/core=90 user/target=80 \
		user/symbols=80 && exit $$rc

bench: bench-startup bench-marker bench-overhead bench-accuracy ## all benches

bench-accuracy: all workloads
bench-accuracy: ## predictions against shortened programs, --sync=uprobe and Coz; needs root; long
	@tests/bench/accuracy.sh --uprobe --noise=$(or $(NOISE),none)

bench-off-cpu: all workloads
bench-off-cpu: ## predictions for waits against shorter waits (OFF_CPU=options); needs root; long
	@tests/bench/offcpu.sh $(OFF_CPU)

bench-off-cpu-real: all workloads
bench-off-cpu-real: ## the same on SQLite, LevelDB, RocksDB, PostgreSQL; needs root; 12 min
	@scripts/install-deps.sh bench || true
	@$(MAKE) --no-print-directory -k $(REAL_PROGRAMS) || true
	@tests/bench/real.py $(OFF_CPU)

# A tool of its own, in which rules can be turned off.
SIMULATED := tests/bench/rules.c user/core/experiment/visits.c
$(BUILD)/rules/simulated: $(SIMULATED) $(wildcard tests/unit/*sim*.h include/cozbpf/*.h)
	@mkdir -p $(@D)
	$(call say,BENCH,$@)$(CC) $(CPPFLAGS_ALL) -DCOZBPF_RULE_SWITCHES -Itests/unit \
		$(CFLAGS_ALL) -O3 -o $@ $(SIMULATED) -lm

bench-go: all
bench-go: ## predictions for Go programs (GO_BENCH=options of accuracy.sh); needs root; long
	@scripts/install-deps.sh go
	@$(MAKE) --no-print-directory workloads
	@tests/bench/accuracy.sh --group go $(GO_BENCH)

bench-stripped: all $(STRIPPED)
bench-stripped: ## predictions for functions of programs without names; needs root; long
	@tests/bench/accuracy.sh --stripped --no-coz

bench-rules: $(BUILD)/rules/simulated
bench-rules: ## what each accounting rule does to predictions (RULES="--seeds 16", "--real CASES")
	@BUILD=$(BUILD) tests/bench/rules.sh $(RULES)

bench-overhead: all workloads ## cost of sampling and of each hook; needs root
	@tests/bench/overhead.sh

bench-marker: ## cost of a marker of coz.h when nobody profiles
	@tests/bench/marker.sh

bench-attach: all ## 500 times attached to a server under load, and left; needs root; long
	@tests/bench/attach.sh

bench-rest: all $(BUILD)/tests/bench/rest ## cost of --duty between its series; needs root; 3 min
	@tests/bench/rest.py $(REST)

bench-servers: all ## stripped servers: the automatic point beside one by hand; needs root; 8 min
	@tests/bench/servers.sh

bench-blocks: $(BUILD)/tests/bench/blocks ## 100 runs of 10,000 blocks, read and analysed
	@$<

bench-block-times: all $(BUILD)/tests/bench/block_times
bench-block-times: ## how exact counts and times of blocks are; needs root; TIMES="RUNS ROUNDS"
	@tests/bench/block_times.py $(TIMES)

bench-merge: all $(BUILD)/tests/bench/merge
bench-merge: ## 10,000 profiles merged and reported (MERGE="PROFILES EXPERIMENTS"); 3 GB, 6 min
	@tests/bench/merge.sh $(MERGE)

bench-nodes: all $(BUILD)/tests/workloads/nodes
bench-nodes: ## one program over two nodes, MPI too: predictions; needs root; NODES=options; long
	@tests/bench/nodes/nodes.py $(NODES)

bench-startup: all $(BUILD)/tests/bench/startup
bench-startup: ## our readers beside libdw's; from the start to the first experiment; needs root
	@tests/bench/bigdebug.sh && tests/bench/start.py

# clang's warnings, since CI compiles by gcc alone (FUZZ_QUICK). clang-tidy reads many files in one
# process, and wants one check of its own.
CLANG_WARNINGS := {Checks: "-*,clang-diagnostic-*,misc-misplaced-const", WarningsAsErrors: "*"}
clang-check: $(addprefix $(BUILD)/gen/,blocks_page.h page.h profile.pb-c.h syscall_names.h)
	$(Q)printf '%s\n' $(PURE_SRCS) | xargs -P "$$(nproc)" -n 32 sh -c 'clang-tidy --quiet \
		--config='\''$(CLANG_WARNINGS)'\'' "$$@" -- $(CPPFLAGS_ALL) $(CFLAGS_ALL)' sh

# All workloads, since CI builds a few (FEW_WORKLOADS): do they compile?
workloads-check:
	$(Q)printf '%s\n' $(filter %.c,$(WORKLOAD_SRCS)) | xargs -P "$$(nproc)" -n 8 \
		$(CC) -fopenmp -fsyntax-only -Iinclude -Itests/workloads
	$(Q)printf '%s\n' $(filter %.cc,$(WORKLOAD_SRCS)) | xargs -P "$$(nproc)" -n 2 \
		$(CXX) -std=c++20 -fsyntax-only -Iinclude -Itests/workloads
	$(if $(GO_WORKLOADS),$(Q)gofmt -e -l tests/workloads/go >/dev/null)

lint: format-check clang-check workloads-check
lint: ## include directions, shell scripts, formatting, static checks
	@scripts/lint.sh

FORMAT_SRCS = $(shell git ls-files '*.c' '*.h' | grep -v '^vmlinux/')
format: ## reformat the sources
	$(Q)clang-format -i $(FORMAT_SRCS)

format-check: ## fail when clang-format would change something
	$(Q)clang-format --dry-run -Werror $(FORMAT_SRCS)

analyze: $(addprefix $(BUILD)/gen/,cozbpf.skel.h page.h blocks_page.h profile.pb-c.h shim_blob.h)
analyze: ## clang-tidy and gcc's analyzer over user/ (cppcheck is part of lint)
	$(Q)$(MAKE) --no-print-directory BUILD=$(BUILD)/analyzer WERROR=1 \
		CFLAGS='$(GCC_ANALYZER)' $(BUILD)/analyzer/cozbpf
	$(Q)clang-tidy --quiet $(filter-out user/shim/%,$(USER_SRCS)) -- \
		$(CPPFLAGS_ALL) $(DEFINES) -std=gnu11

DOCS = README.md CHANGELOG.md LICENSE $(wildcard docs/*.md)
SHARE = $(DESTDIR)$(PREFIX)/share
COMPLETION = $(SHARE)/bash-completion/completions/cozbpf
install: all
install: ## install below PREFIX (/usr/local): tool, shim, coz.h, manual, completion, documents
	install -D -m755 $(TOOL) $(DESTDIR)$(PREFIX)/bin/cozbpf
	install -D -m755 $(SHIM) $(DESTDIR)$(PREFIX)/lib/cozbpf/libcozbpf-shim.so
	install -D -m644 include/coz.h $(DESTDIR)$(INCLUDEDIR)/coz.h
	install -D -m644 docs/cozbpf.1 $(SHARE)/man/man1/cozbpf.1
	install -D -m644 docs/completion/cozbpf.bash $(COMPLETION)
	install -d $(SHARE)/doc/cozbpf/containers
	install -m644 $(DOCS) $(SHARE)/doc/cozbpf
	install -m644 docs/containers/* $(SHARE)/doc/cozbpf/containers

uninstall: ## remove what install put there
	rm -f $(DESTDIR)$(PREFIX)/bin/cozbpf $(DESTDIR)$(INCLUDEDIR)/coz.h
	rm -f $(SHARE)/man/man1/cozbpf.1 $(COMPLETION)
	rm -rf $(DESTDIR)$(PREFIX)/lib/cozbpf $(SHARE)/doc/cozbpf

deb: ## Debian package: build/cozbpf_VERSION-1_ARCH.deb (ARCH=arm64: build/arm64/, cross-built)
	@ARCH=$(ARCH) scripts/package.sh $(BUILD) $(VERSION)

check-package: ## the package; installs what it needs; needs root and the network
	@COZBPF_TEST_TIMEOUT=900 scripts/run-tests.sh package $(wildcard tests/package/*.sh)

dist: ## source archive of the last commit: build/cozbpf-VERSION.tar.gz
	@mkdir -p $(BUILD)
	git archive --prefix=cozbpf-$(VERSION)/ -o $(BUILD)/cozbpf-$(VERSION).tar.gz HEAD

clean: ## remove build/
	rm -rf $(BUILD)

help: ## this list
	@echo 'targets:'; sed -n 's/^\([a-z0-9-]*\):.*## /  \1\t/p' Makefile | expand -t 20
	@echo 'knobs: V=1 (show commands)  BUILD=dir  PREFIX=dir  INCLUDEDIR=dir  DESTDIR=dir'
	@echo '  CC, CLANG, BPFTOOL, PROTOC_C  CHART_JS=file  WERROR=1 (on in CI)  TIME=60'
	@echo '  RULES=arguments of bench-rules  SOAK=options of tests/soak/soak.py'
	@echo '  OFF_CPU=options of tests/bench/offcpu.py, real.py'
	@echo '  GO=the go command  GO_BENCH=options of bench-go'
	@echo '  NOISE=busy|memory|slow|interrupts (bench-accuracy)'
	@echo '  KERNELS="6.18 7.3+lockdown=integrity"  SCRIPTS=tests/e2e/signals.sh (check-vm)'
	@echo '  ALL=1  SEED=N  ONLY=FAULT[:CALL]  FAULT_SECONDS=25 (check-fault)'

.PHONY: all always workloads check check-long check-bpf check-e2e check-e2e-long check-fault \
	check-machine arm64-tests check-arm64 check-vm check-vm-ci check-real check-docs man asan \
	tsan check-sanitized check-slurm check-manifests fuzz coverage coverage-all bench \
	bench-attach bench-block-times bench-blocks bench-marker bench-merge bench-nodes \
	bench-startup clang-check workloads-check \
	bench-accuracy bench-go \
	bench-off-cpu bench-off-cpu-real bench-overhead \
	bench-rules bench-servers bench-stripped soak check-soak lint format format-check analyze \
	install uninstall deb check-package dist clean help
