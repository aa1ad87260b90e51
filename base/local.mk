# SPDX-License-Identifier: GPL-3.0-or-later

noinst_LIBRARIES += base/libbase.a

base_libbase_a_SOURCES = \
	base/arena.c \
	base/arena.h \
	base/array.c \
	base/array.h \
	base/attributes.h \
	base/digits.c \
	base/digits.h \
	base/ending.c \
	base/ending.h \
	base/error.h \
	base/hash.c \
	base/hash.h \
	base/names.c \
	base/names.h \
	base/number.c \
	base/number.h \
	base/output.c \
	base/output.h \
	base/quote.c \
	base/quote.h \
	base/random.c \
	base/random.h \
	base/utf8.c \
	base/utf8.h \
	base/workers.c \
	base/workers.h

# Installed: what a policy from outside includes.
nobase_weirinclude_HEADERS += base/error.h
