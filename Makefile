# skillopt - build, test, install. GNU make; no configure step.
#
#   make               build/release/skillopt and ./skillopt
#   make quickstart    install what is missing, build, train the shipped example
#   make deps          print the line that installs what is missing on a bare Debian
#   make install       to PREFIX (/usr/local), below DESTDIR     make uninstall
#   make deb           a package for `apt install ./skillopt_*.deb`
#   make ckpt          train the skills in ckpt/ anew (equal byte for byte)
#   make test          all tests, short forms (under 5 minutes)
#   make test-long     the long forms (under 60 minutes)   make test-full  longer still
#   make asan          the tests under ASan, UBSan and LSan
#   make tsan          the tests of what has threads, and short runs, under TSan
#   make valgrind      the tests in C and a short run under valgrind
#   make lint          format, tidy, cppcheck, luacheck, rooms, generated docs
#   make docs          the pages that programs write
#   make fuzz          FUZZ_SECONDS per target             make bench      figures
#   make V=1 ...       show the commands

PREFIX       ?= /usr/local
MODE         ?= release
BUILD        := build/$(MODE)
VERSION      := 0.1.0
COMMIT       := $(shell git describe --always --dirty 2>/dev/null || echo unknown)
CLANG        ?= clang-14
FUZZ_SECONDS ?= 30
Q            := $(if $(V),,@)

# Everything the build and the tests need, as Debian names it; nowhere else.
DEPS      := gcc libc6-dev make pkg-config liblua5.4-dev lua5.4 libcurl4-openssl-dev libyaml-dev \
             libuv1-dev libsqlite3-dev libzstd-dev libssl-dev libutf8proc-dev \
             libmicrohttpd-dev libzip-dev ca-certificates
DEPS_LINT := clang-format-14 clang-tidy-14 cppcheck lua-check
DEPS_FUZZ := clang-14 libclang-rt-14-dev
DEPS_LONG := valgrind debootstrap iproute2 tmux
DEPS_DEB  := dpkg-dev
# Lua 5.4 has a name of its own on each system.
LUA_PC    := $(firstword $(shell for m in lua5.4 lua54 lua-5.4 lua; do \
               pkg-config --exists "$$m >= 5.4 $$m < 5.5" 2>/dev/null && echo $$m; done) lua5.4)
PKGS      := $(LUA_PC) libcurl yaml-0.1 libuv sqlite3 libzstd libcrypto libutf8proc libzip

CPPFLAGS += -D_GNU_SOURCE -Iruntime -DSKILLOPT_VERSION='"$(VERSION)"' \
            $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
CFLAGS   ?= -O2 -g
CFLAGS   += -std=c11 -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
            -Wpointer-arith -Wwrite-strings -Wvla -Wno-unused-parameter
# Lua and the digests of OpenSSL stand in the program itself where the system has the
# libraries for that: their calls need no look-up, and the program starts sooner. libcurl
# and libzip are loaded when they are needed (runtime/io/late.h): the linker leaves out
# what nobody names. Nobody else is to find the program's piece of OpenSSL.
file_of   = $(filter /%,$(shell $(CC) -print-file-name=$(1)))
inside    = $(if $(call file_of,lib$(1).a),-l:lib$(1).a,-l$(1))
LDFLAGS  += -Wl,--as-needed -Wl,--exclude-libs,libcrypto.a
LDLIBS   += $(patsubst -lcrypto,$(call inside,crypto),$(patsubst -l$(LUA_PC),$(call \
            inside,$(LUA_PC)),$(shell pkg-config --libs $(PKGS) 2>/dev/null))) -lm -lpthread
SONAME    = $(shell readelf -d $(call file_of,$(1)) 2>/dev/null | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')

ifeq ($(MODE),asan)
CC      := $(CLANG)
CFLAGS  += -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
LDFLAGS += -fsanitize=address,undefined
endif
ifeq ($(MODE),tsan)
CC      := $(CLANG)
CFLAGS  += -O1 -fno-omit-frame-pointer -fsanitize=thread
LDFLAGS += -fsanitize=thread
endif
ifeq ($(MODE),fuzz)
CC      := $(CLANG)
CFLAGS  += -O1 -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined \
           -fno-sanitize-recover=all
LDFLAGS += -fsanitize=fuzzer,address,undefined
endif
ifeq ($(MODE),cov)
CFLAGS  += -O0 --coverage
LDFLAGS += --coverage
endif

SRC   := $(sort $(filter-out runtime/main.c,$(wildcard runtime/*/*.c runtime/*/*/*.c)))
OBJ   := $(SRC:%.c=$(BUILD)/%.o)
TESTS := $(patsubst tests/c/%.c,$(BUILD)/tests/%,$(sort $(wildcard tests/c/test_*.c)))
FUZZ  := $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
STUB  := $(BUILD)/stub
BENCH := $(patsubst tests/bench/%.c,$(BUILD)/bench/%,$(sort $(wildcard tests/bench/bench_*.c)))

all: $(BUILD)/skillopt
	@[ "$(MODE)" != release ] || ln -sf build/release/skillopt skillopt

# Tests take from the archive what they need, which keeps linking short.
LIB := $(BUILD)/libskillopt.a

$(LIB): $(OBJ)
	@rm -f $@
	$(Q)ar rcs $@ $^

# The program's own Lua files compiled, which start sooner; one that is edited later is
# compiled when it is read (runtime/host/chunks.h).
CHUNKS := $(filter-out lua/meta/%,$(shell find lua -name '*.lua'))

$(BUILD)/chunk_writer: $(BUILD)/packaging/chunk_writer.o $(LIB)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/chunks.bin: $(BUILD)/chunk_writer $(CHUNKS)
	@echo "LUA  $@"
	$(Q)$< $@ $(CHUNKS)

$(BUILD)/chunks.o: packaging/chunks.S $(BUILD)/chunks.bin
	$(Q)$(CC) -DCHUNKS='"$(BUILD)/chunks.bin"' -c -o $@ $<

$(BUILD)/skillopt: $(BUILD)/runtime/main.o $(OBJ) $(BUILD)/chunks.o
	@echo "LINK $@"
	$(Q)$(CC) $(LDFLAGS) -rdynamic -o $@ $^ $(LDLIBS)

$(BUILD)/tests/test_chunks: $(BUILD)/chunks.o

$(BUILD)/tests/%: $(BUILD)/tests/c/%.o $(BUILD)/tests/c/check.o $(LIB)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/fuzz/%: $(BUILD)/tests/fuzz/%.o $(LIB)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/bench/%: $(BUILD)/tests/bench/%.o $(LIB)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS) -lmicrohttpd

$(STUB): $(BUILD)/tests/stub/stub.o $(LIB)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS) -lmicrohttpd

$(BUILD)/%.o: %.c Makefile
	@mkdir -p $(@D)
	@echo "CC   $<"
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/runtime/io/zip_late.o: CPPFLAGS += -DSKILLOPT_LIBZIP='"$(or $(call SONAME,libzip.so),libzip.so)"'

# host/version.c alone knows the commit, so that a commit does not rebuild the rest.
$(BUILD)/runtime/host/version.o: CPPFLAGS += -DSKILLOPT_COMMIT='"$(COMMIT)"'

# ------------------------------------------------------------------ the two commands

deps:
	@echo "apt-get install -y --no-install-recommends $(strip $(DEPS))"

# Nothing happens when the packages are there.
define NEED
	@NEED_MODULES="$(2)" YES="$(YES)" sh tests/need.sh $(1)
endef

need:
	$(call NEED,$(DEPS),$(PKGS) libmicrohttpd)

quickstart: need
	$(Q)$(MAKE) --no-print-directory all
	./skillopt run configs/houserules/experiment.lua

# The shipped skills, each trained from nothing in a folder of its own.
ckpt: all
	@rm -rf build/ckpt
	./skillopt run configs/houserules/experiment.lua --quiet env.out_root=build/ckpt/houserules
	./skillopt lua ckpt/card.lua build/ckpt/houserules ckpt/houserules

test: need
	$(Q)$(MAKE) --no-print-directory check

# All that the tests run.
programs: $(BUILD)/skillopt $(STUB) $(TESTS)
	@:

check: programs
	@sh tests/run.sh $(BUILD) short

test-long: need
	$(call NEED,$(DEPS_LONG))
	$(Q)$(MAKE) --no-print-directory programs
	@sh tests/run.sh $(BUILD) long

test-full: need
	$(call NEED,$(DEPS_LONG))
	$(Q)$(MAKE) --no-print-directory programs
	@sh tests/run.sh $(BUILD) full

# ----------------------------------------------------------------------- installing

# What the program reads at run time.
SHIPPED := lua configs data/houserules $(wildcard ckpt)
INSTALL := BUILD="$(BUILD)" SHIPPED="$(SHIPPED)" VERSION="$(VERSION)" PREFIX="$(PREFIX)" \
           DESTDIR="$(DESTDIR)"

install: $(BUILD)/skillopt
	$(Q)$(INSTALL) sh packaging/install.sh install

uninstall:
	$(Q)$(INSTALL) sh packaging/install.sh uninstall

deb: need
	$(call NEED,$(DEPS_DEB))
	$(Q)$(MAKE) --no-print-directory $(BUILD)/skillopt
	$(Q)$(INSTALL) sh packaging/deb.sh

# Pages that are made from the source; tests fail when they are stale.
generated: $(BUILD)/skillopt
	$(BUILD)/skillopt lua packaging/generate.lua man >docs/skillopt.1.new
	mv docs/skillopt.1.new docs/skillopt.1
	$(BUILD)/skillopt lua packaging/generate.lua changelog >CHANGELOG.md.new
	mv CHANGELOG.md.new CHANGELOG.md

# ------------------------------------------------------------------- looking harder

asan:
	$(call NEED,$(DEPS_FUZZ))
	$(Q)ASAN_OPTIONS=detect_leaks=1 $(MAKE) --no-print-directory MODE=asan check

tsan:
	$(call NEED,$(DEPS_FUZZ))
	$(Q)$(MAKE) --no-print-directory MODE=tsan programs
	@sh tests/tsan.sh build/tsan

valgrind:
	$(call NEED,$(DEPS_LONG))
	$(Q)$(MAKE) --no-print-directory programs
	@sh tests/valgrind.sh $(BUILD)

fuzz:
	$(call NEED,$(DEPS_FUZZ))
	$(Q)$(MAKE) --no-print-directory MODE=fuzz fuzz-run

fuzz-run: $(FUZZ)
	$(Q)for f in $(FUZZ); do n=$$(basename $$f); mkdir -p build/corpus/$$n; echo "FUZZ $$n"; \
	  $$f -max_total_time=$(FUZZ_SECONDS) -timeout=5 -rss_limit_mb=1024 -print_final_stats=0 \
	    -verbosity=0 build/corpus/$$n $$(ls -d tests/fuzz/corpus/$$n 2>/dev/null) || exit 1; done

# Written by programs; lint and tests refuse stale ones.
docs: $(BUILD)/skillopt
	$(BUILD)/skillopt config --schema >docs/config.md
	lua5.4 tests/lint/api.lua >docs/lua-api.md

lint: $(BUILD)/skillopt
	$(call NEED,$(DEPS_LINT))
	lua5.4 tests/lint/api.lua --check
	$(BUILD)/skillopt config --schema | cmp - docs/config.md
	clang-format-14 --dry-run --Werror $(shell git ls-files '*.c' '*.h')
	lua5.4 tests/lint/rooms.lua
	luacheck --quiet lua packaging tests/lua tests/programs tests/lint tests/fuzz
	cppcheck --quiet --error-exitcode=1 --std=c11 --enable=warning,performance,portability \
	  --suppress=missingIncludeSystem --inline-suppr -Iruntime runtime
	clang-tidy-14 --quiet $(SRC) -- $(CPPFLAGS) -DSKILLOPT_COMMIT='"lint"' -DSKILLOPT_LIBZIP='"lint"' -std=c11

bench: $(BUILD)/skillopt $(STUB) $(BENCH)
	@sh tests/bench/run.sh $(BUILD)

clean:
	rm -rf build skillopt

.DELETE_ON_ERROR:
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
.SECONDARY:
.PHONY: all deps need quickstart ckpt test programs check test-long test-full install uninstall \
        deb generated asan tsan valgrind fuzz fuzz-run docs lint bench clean
