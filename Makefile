# key_value: plain PGXS. `make`, `make install`, `make installcheck` as with any extension.

EXTENSION    = key_value
EXTVERSION   = $(shell sed -n "s/^default_version *= *'\(.*\)'/\1/p" key_value.control)
MODULE_big   = key_value
SOURCES      = $(sort $(wildcard src/*.c src/*/*.c))
OBJS         = $(SOURCES:.c=.o)
DATA_built   = key_value--$(EXTVERSION).sql
SHLIB_LINK   = -lxxhash

REGRESS      = $(patsubst sql/%.sql,%,$(sort $(wildcard sql/*.sql)))
REGRESS_OPTS = --load-extension=key_value
EXTRA_CLEAN  = $(DATA_built)

PG_CONFIG   ?= pg_config
includedir_server := $(shell $(PG_CONFIG) --includedir-server)

# Core's headers are not ours to mend: -isystem keeps -Wextra to our own lines.
PG_CPPFLAGS  = -isystem $(includedir_server) -I$(srcdir)/src
PG_CFLAGS    = -Wextra -Wno-unused-parameter -Wno-missing-field-initializers -Wno-sign-compare

# Nothing here gains from inlining into JIT-compiled expressions.
override with_llvm = no

PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

$(DATA_built): src/install/key_value.sql key_value.control
	cp $< $@

# Every object is built again when any header changes: the tree is small.
$(OBJS): $(wildcard src/*/*.h)

# Measures on a server of its own, as ./bootstrap bench does: `make bench`, `make bench QUICK=1`.
.PHONY: bench
bench:
	$(srcdir)/bootstrap bench $(if $(QUICK),--quick)
