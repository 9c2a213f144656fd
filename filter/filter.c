/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Schemas, compiling into them, and what can be asked of a filter. Equal filters are found by their key: the canonical
 * text, and behind a NUL what else the meaning depends on (the tag key of tag, strict_integers of sql). The tree is not
 * kept; who wants to see it parses the canonical text again. */
#include "filter.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

#include "canonical.h"
#include "compile.h"
#include "error.h"
#include "guard.h"
#include "hash.h"
#include "parse.h"
#include "subscription.h"

#ifndef SF_VERSION
#error "SF_VERSION is defined by the build"
#endif

enum {
    FIRST_BYTES = 6144,    /* on the stack: enough for most expressions */
    FIXED_BYTES = 1 << 16, /* an arena may take so much, and for each byte of text */
    BYTES_PER_BYTE = 1024, /* so much */
};

const char *sf_version(void) {
    return SF_VERSION;
}

/* ---- schemas --------------------------------------------------------------------------------------------------- */

struct sf_schema *sf_schema_new(void) {
    struct sf_schema *schema = calloc(1, sizeof *schema);
    if (schema != NULL) {
        uint64_t key[2];
        sf_hash_make_key(key);
        sf_intern_init(&schema->names, key);
        sf_intern_init(&schema->filters, key);
        schema->generation = 1; /* 0 is what messages have that no filter is to look at */
    }
    return schema;
}

void sf_schema_free(struct sf_schema *schema) {
    if (schema != NULL) {
        assert(schema->filters.n_living == 0);
        sf_intern_deinit(&schema->names);
        sf_intern_deinit(&schema->filters);
        free(schema);
    }
}

size_t sf_schema_filters(const struct sf_schema *schema) {
    return schema->filters.n_living;
}

size_t sf_schema_names(const struct sf_schema *schema) {
    return schema->names.n_living;
}

uint64_t sf_schema_generation(const struct sf_schema *schema) {
    return schema->generation;
}

struct sf_text sf_slot_name(const struct sf_schema *schema, uint32_t slot) {
    if (slot < SF_N_ATTRIBUTES) {
        const char *name = sf_attribute_name((enum sf_attribute)slot);
        return (struct sf_text){name, strlen(name)};
    }
    const struct sf_interned *name = sf_intern_at(&schema->names, slot - SF_N_ATTRIBUTES);
    return (struct sf_text){name->text, name->bytes};
}

/* ---- parsing --------------------------------------------------------------------------------------------------- */

static struct sf_arena start_arena(void *first, size_t first_bytes, size_t text_bytes) {
    struct sf_arena arena;
    size_t allowed = text_bytes > (SIZE_MAX / 2 - FIXED_BYTES) / BYTES_PER_BYTE
                         ? SIZE_MAX / 2
                         : FIXED_BYTES + text_bytes * BYTES_PER_BYTE;
    sf_arena_init(&arena, first, first_bytes, allowed);
    return arena;
}

static struct sf_node *parse_and_check(struct sf_parse *parse, enum sf_dialect dialect) {
    if (dialect == SF_DIALECT_KV) {
        return sf_parse_kv(parse);
    }
    if (dialect == SF_DIALECT_TAG) {
        return sf_parse_tag(parse);
    }
    struct sf_node *root = sf_parse_sql(parse);
    return root != NULL && sf_check(parse, root) == SF_OK ? root : NULL;
}

/* What is looked at before the text is read. */
static enum sf_status check_options(const struct sf_options *options, struct sf_text text,
                                    enum sf_dialect dialect, size_t body, struct sf_error *error) {
    if (text.bytes > options->max_expression_bytes) {
        return sf_error_set(error, SF_E_LIMIT, options->max_expression_bytes,
                            text.bytes - options->max_expression_bytes,
                            "an expression has at most %zu bytes, this one has %zu",
                            options->max_expression_bytes, text.bytes);
    }
    if ((options->dialects & (unsigned)dialect) == 0) {
        return sf_error_set(error, SF_E_DIALECT, 0, body > 0 ? body : text.bytes,
                            "the %s dialect is switched off", sf_dialect_name(dialect));
    }
    return SF_OK;
}

/* ---- filters --------------------------------------------------------------------------------------------------- */

/* What is known about an expression once it is parsed. */
struct source {
    enum sf_dialect dialect;
    bool strict_integers; /* and the dialect cares */
    struct sf_node *root;
    struct sf_text key;
    size_t text_bytes; /* of the key: the canonical text */
};

static enum sf_status make_key(struct source *source, const char *tag_key, struct sf_arena *arena) {
    struct sf_buffer buffer = {.arena = arena};
    sf_canonical_write(&buffer, source->dialect, source->root);
    source->text_bytes = buffer.bytes;
    sf_buffer_add_char(&buffer, '\0');
    if (source->dialect == SF_DIALECT_TAG) {
        sf_buffer_add_string(&buffer, tag_key);
    } else {
        sf_buffer_add_char(&buffer, source->strict_integers ? '1' : '0');
    }
    source->key = sf_buffer_text(&buffer);
    return buffer.failed ? SF_E_NOMEM : SF_OK;
}

/* One block for the filter, its names and its program. NULL: out of memory. */
static struct sf_filter *make_filter(struct sf_schema *schema, const struct source *source,
                                     const struct sf_compiled *compiled) {
    size_t names_bytes = compiled->n_names * sizeof *compiled->names;
    size_t program_bytes = sf_program_bytes(compiled->program);
    size_t names_offset = sizeof(struct sf_filter) + program_bytes;
    names_offset += -names_offset % sizeof *compiled->names;
    char *block = malloc(names_offset + names_bytes);
    if (block == NULL) {
        return NULL;
    }
    void *head = block;
    void *names = block + names_offset;
    struct sf_filter *filter = head;
    *filter = (struct sf_filter){
        .schema = schema,
        .names = names,
        .n_names = compiled->n_names,
        .text_bytes = (uint32_t)source->text_bytes,
        .dialect = (uint8_t)source->dialect,
        .strict_integers = source->strict_integers,
    };
    memcpy(filter + 1, compiled->program, program_bytes);
    if (names_bytes > 0) {
        memcpy(names, compiled->names, names_bytes);
    }
    return filter;
}

/* Give the names of a filter back; whether one of them left the schema. */
static bool release_names(struct sf_schema *schema, const uint32_t *names, uint32_t n_names) {
    bool has_left = false;
    for (uint32_t i = 0; i < n_names; i++) {
        has_left = sf_intern_release(&schema->names, names[i]) || has_left;
    }
    return has_left;
}

/* Compile what is not in the schema yet, under the id that its key has. */
static enum sf_status add_filter(struct sf_schema *schema, const struct source *source,
                                 struct sf_arena *arena, uint32_t id) {
    size_t n_names = schema->names.n_living;
    struct sf_compiled compiled;
    if (sf_compile_tree(arena, &schema->names, source->strict_integers, source->root, &compiled) !=
        SF_OK) {
        return SF_E_NOMEM;
    }
    struct sf_filter *filter = make_filter(schema, source, &compiled);
    if (filter == NULL) {
        /* no message has seen them: the generation stays */
        (void)release_names(schema, compiled.names, compiled.n_names);
        return SF_E_NOMEM;
    }
    filter->id = id;
    sf_intern_at(&schema->filters, id)->owner = filter;
    schema->generation += schema->names.n_living > n_names ? 1 : 0;
    return SF_OK;
}

/* The filter of the expression, shared or new. */
static enum sf_status acquire_filter(struct sf_schema *schema, const struct source *source,
                                     struct sf_arena *arena, struct sf_filter **filter_out) {
    uint32_t id = 0;
    if (sf_intern_acquire(&schema->filters, source->key, &id) != SF_OK) {
        return SF_E_NOMEM;
    }
    if (sf_intern_at(&schema->filters, id)->owner == NULL &&
        add_filter(schema, source, arena, id) != SF_OK) {
        (void)sf_intern_release(&schema->filters, id);
        return SF_E_NOMEM;
    }
    *filter_out = sf_intern_at(&schema->filters, id)->owner;
    return SF_OK;
}

enum sf_status sf_compile(struct sf_schema *schema, const struct sf_options *options,
                          const char *text, size_t bytes, struct sf_filter **filter_out,
                          struct sf_error *error) {
    static const struct sf_options defaults = SF_OPTIONS_INIT;
    options = options == NULL ? &defaults : options;
    *filter_out = NULL;
    struct sf_parse parse = {
        .sent = {text, bytes}, .tag_key = options->tag_key, .error = error, .status = SF_OK};
    struct source source = {.dialect = sf_dialect_of(parse.sent, &parse.body)};
    source.strict_integers = options->strict_integers && source.dialect == SF_DIALECT_SQL;
    enum sf_status status = check_options(options, parse.sent, source.dialect, parse.body, error);
    if (status != SF_OK) {
        return status;
    }
    _Alignas(max_align_t) char first[FIRST_BYTES];
    struct sf_arena arena = start_arena(first, sizeof first, bytes);
    parse.arena = &arena;
    source.root = parse_and_check(&parse, source.dialect);
    status = parse.status;
    if (status == SF_OK && (make_key(&source, options->tag_key, &arena) != SF_OK ||
                            acquire_filter(schema, &source, &arena, filter_out) != SF_OK)) {
        status = sf_error_no_memory(error);
    }
    sf_arena_deinit(&arena);
    return status;
}

struct sf_filter *sf_filter_ref(struct sf_filter *filter) {
    sf_intern_at(&filter->schema->filters, filter->id)->n_references++;
    return filter;
}

void sf_filter_unref(struct sf_filter *filter) {
    if (filter != NULL && sf_intern_release(&filter->schema->filters, filter->id)) {
        if (release_names(filter->schema, filter->names, filter->n_names)) {
            filter->schema->generation++;
        }
        free(filter);
    }
}

/* ---- what a filter is ------------------------------------------------------------------------------------------ */

uint32_t sf_filter_id(const struct sf_filter *filter) {
    return filter->id;
}

enum sf_dialect sf_filter_dialect(const struct sf_filter *filter) {
    return (enum sf_dialect)filter->dialect;
}

const char *sf_filter_text(const struct sf_filter *filter, size_t *bytes_out) {
    if (bytes_out != NULL) {
        *bytes_out = filter->text_bytes;
    }
    return sf_intern_at(&filter->schema->filters, filter->id)->text;
}

const char *sf_filter_property(const struct sf_filter *filter, size_t index, size_t *bytes_out) {
    if (index >= filter->n_names) {
        return NULL;
    }
    const struct sf_interned *name = sf_intern_at(&filter->schema->names, filter->names[index]);
    if (bytes_out != NULL) {
        *bytes_out = name->bytes;
    }
    return name->text;
}

size_t sf_filter_bytes(const struct sf_filter *filter) {
    const struct sf_interned *entry = sf_intern_at(&filter->schema->filters, filter->id);
    return sizeof *filter + sf_program_bytes(sf_filter_program(filter)) +
           filter->n_names * sizeof *filter->names + sf_intern_entry_bytes(entry->bytes);
}

struct sf_guard sf_filter_guard(const struct sf_filter *filter) {
    const struct sf_program *program = filter == NULL ? NULL : sf_filter_program(filter);
    if (program == NULL || program->guard == 0) {
        return (struct sf_guard){.slot = SF_NO_SLOT};
    }
    const struct sf_instruction *equal = &program->code[program->guard - 1];
    return (struct sf_guard){.word = equal->word, .slot = equal->slot, .bytes = equal->bytes};
}

struct sf_node *sf_filter_parse(const struct sf_filter *filter, struct sf_arena *arena) {
    const struct sf_interned *entry = sf_intern_at(&filter->schema->filters, filter->id);
    struct sf_parse parse = {
        .sent = {entry->text, filter->text_bytes},
        .tag_key = entry->text + filter->text_bytes + 1,
        .arena = arena,
        .status = SF_OK,
    };
    enum sf_dialect dialect = sf_dialect_of(parse.sent, &parse.body);
    struct sf_node *root = parse_and_check(&parse, dialect);
    assert(root != NULL || parse.status == SF_E_NOMEM);
    return root;
}
