# SPDX-License-Identifier: BSD-3-Clause
# Builds everything under build/. `make help` explains targets and knobs.
.DELETE_ON_ERROR:
.SECONDARY:
.SUFFIXES:

CC ?= gcc
ifeq ($(origin CC),default)
CC := gcc
endif
CLANG ?= clang
LLVM_STRIP ?= llvm-strip
BPFTOOL ?= $(firstword $(shell command -v bpftool 2>/dev/null) /usr/sbin/bpftool)
BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
V ?= 0
WERROR ?= $(if $(CI),1,0)
VERSION := 0.1.0
BUILD_ID := $(shell git describe --always --dirty 2>/dev/null || echo unknown)

ARCH := $(shell uname -m | sed -e 's/x86_64/x86/' -e 's/aarch64/arm64/')
Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@printf '  %-8s %s\n' $(1) $(2);)

WARN := -Wall -Wextra -Wno-unused-parameter -Wshadow -Wstrict-prototypes -Wmissing-prototypes $(if $(filter 1,$(WERROR)),-Werror)
CFLAGS ?= -O2 -g
CPPFLAGS_ALL := -D_GNU_SOURCE -Iinclude -Iuser -I$(BUILD)/gen -DCOZBPF_VERSION='"$(VERSION)"' -DCOZBPF_BUILD='"$(BUILD_ID)"' \
	-DCOZBPF_LIBDIR='"$(PREFIX)/lib/cozbpf"'
CFLAGS_ALL := -std=gnu11 $(CFLAGS) $(WARN) -fno-strict-aliasing
LIBS := -lbpf -ldw -lelf -lcjson -lstdc++ -lm -lpthread
BPF_CFLAGS := -O2 -g -target bpf -mcpu=v3 -D__TARGET_ARCH_$(ARCH) -Iinclude -Ivmlinux -Wall $(if $(filter 1,$(WERROR)),-Werror) \
	-idirafter /usr/include/$(shell uname -m)-linux-gnu
# The handler runs on any stack at any moment: no stack protector (TLS), no vector registers, no libc.
SHIM_CFLAGS := -O2 -g -std=gnu11 $(WARN) -Iinclude -Iuser -fPIC -ffreestanding -fno-stack-protector -fcf-protection=none -mgeneral-regs-only \
	-fvisibility=hidden -fno-asynchronous-unwind-tables

BPF_SRCS := $(wildcard bpf/*.bpf.c)
BPF_OBJS := $(BPF_SRCS:bpf/%.bpf.c=$(BUILD)/bpf/%.bpf.o)
USER_SRCS := user/main.c $(foreach d,cmd core target symbols kernel report,$(wildcard user/$(d)/*.c))
USER_OBJS := $(USER_SRCS:%.c=$(BUILD)/%.o)
# What unit tests link with: everything that needs neither root nor a kernel.
PURE_SRCS := $(foreach d,core symbols report,$(wildcard user/$(d)/*.c)) $(wildcard user/cmd/options*.c)
ASAN_FLAGS := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
PURE_ASAN_OBJS := $(PURE_SRCS:%.c=$(BUILD)/asan/%.o)
UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/tests/unit/%,$(wildcard tests/unit/test_*.c))
WORKLOADS := $(patsubst tests/workloads/%.c,$(BUILD)/tests/workloads/%,$(wildcard tests/workloads/*.c))
TOOL := $(BUILD)/cozbpf
SHIM := $(BUILD)/libcozbpf-shim.so

all: $(TOOL) $(SHIM) ## build the tool and its shim (build/cozbpf)

-include $(USER_OBJS:.o=.d) $(PURE_ASAN_OBJS:.o=.d) $(BPF_OBJS:.o=.d) $(UNIT_TESTS:=.d) $(wildcard $(BUILD)/tests/*/*.d)

$(TOOL): $(USER_OBJS)
	$(call say,LINK,$@)$(CC) $(CFLAGS_ALL) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

$(filter $(BUILD)/user/kernel/%,$(USER_OBJS)): $(BUILD)/gen/cozbpf.skel.h

$(BUILD)/bpf/%.bpf.o: bpf/%.bpf.c
	@mkdir -p $(@D)
	$(call say,BPF,$@)$(CLANG) $(BPF_CFLAGS) -MMD -MP -c -o $@ $< && $(LLVM_STRIP) -g $@

$(BUILD)/bpf/cozbpf.linked.o: $(BPF_OBJS)
	$(call say,BPFLINK,$@)$(BPFTOOL) gen object $@ $^

$(BUILD)/gen/cozbpf.skel.h: $(BUILD)/bpf/cozbpf.linked.o
	@mkdir -p $(@D)
	$(call say,SKEL,$@)$(BPFTOOL) gen skeleton $< name cozbpf_bpf >$@

$(SHIM): user/shim/shim.c $(wildcard user/shim/*.h)
	@mkdir -p $(@D)
	$(call say,SHIM,$@)$(CC) $(SHIM_CFLAGS) -shared -nostdlib -Wl,-z,now,-z,relro,-z,noexecstack,--build-id -o $@ $<

$(BUILD)/asan/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(ASAN_FLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/tests/unit/%: tests/unit/%.c $(PURE_ASAN_OBJS)
	@mkdir -p $(@D)
	$(call say,TEST,$@)$(CC) $(CPPFLAGS_ALL) -Itests/unit -DCOZBPF_BUILD_DIR='"$(abspath $(BUILD))"' $(CFLAGS_ALL) $(ASAN_FLAGS) -MMD -MP -o $@ $< $(PURE_ASAN_OBJS) $(LIBS)

# Workloads are the programs under test: optimised little, so that each line keeps its code.
$(BUILD)/tests/workloads/%: tests/workloads/%.c $(wildcard tests/workloads/*.h)
	@mkdir -p $(@D)
	$(call say,WORK,$@)$(CC) -O1 -g -fno-omit-frame-pointer -Iinclude -Itests/workloads -o $@ $< -lpthread -lm

workloads: $(WORKLOADS) ## build the programs of known behaviour

check: $(UNIT_TESTS) ## unit tests under ASan and UBSan; needs no root
	@scripts/run-tests.sh unit $(UNIT_TESTS)

check-bpf: all ## load and verify the BPF objects, instruction budgets; needs root
	@scripts/run-tests.sh bpf $(wildcard tests/bpf/*.sh)

check-e2e: all workloads ## the tool on programs of known behaviour; needs root
	@scripts/run-tests.sh e2e $(filter-out %/lib.sh,$(wildcard tests/e2e/*.sh))

bench: bench-overhead bench-accuracy ## all benches

bench-accuracy: all workloads ## predicted against really shortened programs, Coz beside; needs root; long
	@tests/bench/accuracy.sh

bench-overhead: all workloads ## cost of sampling and of each hook; needs root
	@tests/bench/overhead.sh

lint: format-check ## include directions, shell scripts, formatting, static checks
	@scripts/lint.sh

FORMAT_SRCS = $(shell git ls-files '*.c' '*.h' | grep -v '^vmlinux/')
format: ## reformat the sources
	$(Q)clang-format -i $(FORMAT_SRCS)

format-check: ## fail when clang-format would change something
	$(Q)clang-format --dry-run -Werror $(FORMAT_SRCS)

analyze: ## clang-tidy over user/
	$(Q)clang-tidy --quiet $(filter-out user/shim/%,$(USER_SRCS)) -- $(CPPFLAGS_ALL) -std=gnu11

install: all ## install below PREFIX (default /usr/local)
	install -D -m755 $(TOOL) $(DESTDIR)$(PREFIX)/bin/cozbpf
	install -D -m755 $(SHIM) $(DESTDIR)$(PREFIX)/lib/cozbpf/libcozbpf-shim.so
	install -D -m644 docs/cozbpf.1 $(DESTDIR)$(PREFIX)/share/man/man1/cozbpf.1

uninstall: ## remove what install put there
	rm -f $(DESTDIR)$(PREFIX)/bin/cozbpf $(DESTDIR)$(PREFIX)/share/man/man1/cozbpf.1
	rm -rf $(DESTDIR)$(PREFIX)/lib/cozbpf

clean: ## remove build/
	rm -rf $(BUILD)

help: ## this list
	@echo 'targets:'; sed -n 's/^\([a-z-]*\):.*## /  \1\t/p' Makefile | expand -t 20
	@echo 'knobs: V=1 (show commands)  BUILD=dir  PREFIX=dir  DESTDIR=dir  CC, CLANG, BPFTOOL  WERROR=1 (on in CI)'

.PHONY: all workloads check check-bpf check-e2e bench bench-accuracy bench-overhead lint format format-check analyze install uninstall clean help
