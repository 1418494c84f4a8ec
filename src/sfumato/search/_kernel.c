/* The inner loops of searches, for where a C compiler is at hand.

   Each function does what a NumPy function of the same name in kernel.py does, bit for bit; tests
   hold one to the other. Arrays come as buffers: of one dimension, contiguous, aligned, in native
   byte order, of 32-bit whole numbers unless it says otherwise. Whatever comes from outside is
   checked, and refused with an exception: no index is used before it was found in range, no size
   is multiplied before the product was found to fit, and no array that is written overlaps another.
   The loops run without the lock of the interpreter, so callers must not change arrays meanwhile. */

#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030B0000
#endif
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MOST_GROUPS 64

/* Allocate at least one element; NULL if there is no memory or if no size_t can express its size,
   which malloc would not notice where pointers have 32 bits. */
static void *allocate(int64_t n, size_t size)
{
    if (n < 0 || (uint64_t)n >= (uint64_t)PTRDIFF_MAX / size)
        return NULL;
    return malloc(((size_t)n + (n == 0)) * size);
}

static void *allocate_zeros(int64_t n, size_t size)
{
    if (n < 0 || (uint64_t)n >= (uint64_t)PTRDIFF_MAX / size)
        return NULL;
    return calloc((size_t)n + (n == 0), size);
}

/* Numbering keys in their order. */

typedef struct {
    uint64_t key;
    int64_t first;
} Found;

static inline uint64_t mix(uint64_t x)
{
    x ^= x >> 32;
    x *= 0x9E3779B97F4A7C15ull;
    return x ^ (x >> 29);
}

/* Sort by keys, 11 bits at a time, equal ones in their order; `other` is as large as `found`, and
   what is returned is the one of both that has the result. */
static Found *sort_found(Found *found, Found *other, int64_t n, uint64_t largest)
{
    for (int shift = 0; shift < 64 && (largest >> shift) > 0; shift += 11) {
        int64_t places[2049] = {0};
        for (int64_t i = 0; i < n; i++)
            places[((found[i].key >> shift) & 2047) + 1]++;
        for (int d = 0; d < 2048; d++)
            places[d + 1] += places[d];
        for (int64_t i = 0; i < n; i++)
            other[places[(found[i].key >> shift) & 2047]++] = found[i];
        Found *sorted = other;
        other = found;
        found = sorted;
    }
    return found;
}

/* Returned in place of the number of keys. */
#define NO_MEMORY -1
#define OUTSIDE -2

static int64_t number_dense(const uint64_t *key, int64_t n, uint64_t width, int32_t *of_item,
                            int32_t *first)
{
    int32_t *number = allocate((int64_t)width, sizeof(int32_t));
    int32_t found = 0;
    if (number == NULL)
        return NO_MEMORY;
    memset(number, 0xff, (size_t)width * sizeof(int32_t));
    for (int64_t i = n - 1; i >= 0; i--) {
        if (key[i] >= width) {
            free(number);
            return OUTSIDE;
        }
        number[key[i]] = (int32_t)i;
    }
    for (uint64_t k = 0; k < width; k++)
        if (number[k] >= 0) {
            first[found] = number[k];
            number[k] = found++;
        }
    for (int64_t i = 0; i < n; i++)
        of_item[i] = number[key[i]];
    free(number);
    return found;
}

/* Count the bits of a number that are set: in pairs, in fours, in bytes, and all of these at once. */
static inline int32_t count_bits(uint64_t x)
{
    x -= (x >> 1) & 0x5555555555555555ull;
    x = (x & 0x3333333333333333ull) + ((x >> 2) & 0x3333333333333333ull);
    x = (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0Full;
    return (int32_t)((x * 0x0101010101010101ull) >> 56);
}

/* Keys that are not too far apart are marked in bits: the number of a key is that of the bits set
   before its own, and nothing is sorted. */
static int64_t number_marked(const uint64_t *key, int64_t n, uint64_t width, int32_t *of_item,
                             int32_t *first)
{
    const int64_t words = (int64_t)(width / 64) + 1;
    uint64_t *marks = allocate_zeros(words, sizeof(uint64_t));
    int32_t *before = allocate(words, sizeof(int32_t));
    int32_t found = 0;
    if (marks == NULL || before == NULL) {
        free(marks), free(before);
        return NO_MEMORY;
    }
    for (int64_t i = 0; i < n; i++)
        marks[key[i] / 64] |= 1ull << (key[i] % 64);
    for (int64_t w = 0; w < words; w++) {
        before[w] = found;
        found += count_bits(marks[w]);
    }
    /* Backwards: what is written last is the first item of a key. */
    for (int64_t i = n - 1; i >= 0; i--) {
        const uint64_t lower = marks[key[i] / 64] & ((1ull << (key[i] % 64)) - 1);
        of_item[i] = before[key[i] / 64] + count_bits(lower);
        first[of_item[i]] = (int32_t)i;
    }
    free(marks), free(before);
    return found;
}

/* Keys of which most are different are sorted at once: hashing them would only miss the cache. */
static int64_t number_sorted(const uint64_t *key, int64_t n, int32_t *of_item, int32_t *first)
{
    Found *found = allocate(n, sizeof(Found));
    Found *other = allocate(n, sizeof(Found));
    uint64_t largest = 0, last = 0;
    int32_t distinct = 0;
    if (found == NULL || other == NULL) {
        free(found), free(other);
        return NO_MEMORY;
    }
    for (int64_t i = 0; i < n; i++) {
        found[i] = (Found){key[i], i};
        largest |= key[i];
    }
    const Found *sorted = sort_found(found, other, n, largest);
    for (int64_t j = 0; j < n; j++) {
        if (j == 0 || sorted[j].key != last) {
            last = sorted[j].key;
            first[distinct++] = (int32_t)sorted[j].first;
        }
        of_item[sorted[j].first] = distinct - 1;
    }
    free(found), free(other);
    return distinct;
}

/* Items after which it is known whether most keys are different. */
#define TRIED 65536

static int64_t number_sparse(const uint64_t *key, int64_t n, int32_t *of_item, int32_t *first)
{
    int64_t size = 16, distinct = 0, room = 4096, i = 0;
    uint64_t largest = 0;
    while (size < 2 * n)
        size *= 2;
    /* A slot is the first item that has its key; small slots stay in the cache. */
    int32_t *slots = allocate(size, sizeof(int32_t));
    Found *found = allocate(room, sizeof(Found));
    Found *other = NULL;
    if (slots == NULL || found == NULL)
        goto no_memory;
    memset(slots, 0xff, (size_t)size * sizeof(int32_t));
    for (; i < n; i++) {
        uint64_t k = key[i];
        int64_t s = (int64_t)(mix(k) & (uint64_t)(size - 1));
        if (i == TRIED && n > 2 * TRIED && distinct > TRIED / 2) {
            free(slots), free(found);
            return number_sorted(key, n, of_item, first);
        }
        while (slots[s] >= 0 && key[slots[s]] != k)
            s = (s + 1) & (size - 1);
        if (slots[s] < 0) {
            if (distinct == room) {
                /* No more than n are ever found, and `room` is at most twice that. */
                room *= 2;
                if ((uint64_t)room > (uint64_t)PTRDIFF_MAX / sizeof(Found))
                    goto no_memory;
                other = realloc(found, (size_t)room * sizeof(Found));
                if (other == NULL)
                    goto no_memory;
                found = other;
                other = NULL;
            }
            slots[s] = (int32_t)i;
            found[distinct++] = (Found){k, i};
            largest |= k;
        }
        of_item[i] = slots[s];
    }
    free(slots);
    /* A place per item: the number of the key that was first met there. */
    slots = allocate(n, sizeof(int32_t));
    other = allocate(distinct, sizeof(Found));
    if (slots == NULL || other == NULL)
        goto no_memory;
    const Found *sorted = sort_found(found, other, distinct, largest);
    for (int64_t j = 0; j < distinct; j++) {
        first[j] = (int32_t)sorted[j].first;
        slots[sorted[j].first] = (int32_t)j;
    }
    for (i = 0; i < n; i++)
        of_item[i] = slots[of_item[i]];
    free(slots), free(found), free(other);
    return distinct;
no_memory:
    free(slots), free(found), free(other);
    return NO_MEMORY;
}

/* Bits per item that are marked: with more, hashing needs less memory and is as fast. */
#define MOST_BITS 128

static int64_t number_keys(const uint64_t *key, int64_t n, uint64_t width, int32_t *of_item,
                           int32_t *first)
{
    int fits = 1;
    if (width <= 4 * (uint64_t)n + 4096)
        return number_dense(key, n, width, of_item, first);
    for (int64_t i = 0; i < n; i++)
        fits &= key[i] < width;
    if (!fits)
        return OUTSIDE;
    if (width / MOST_BITS <= (uint64_t)n)
        return number_marked(key, n, width, of_item, first);
    return number_sparse(key, n, of_item, first);
}

/* Buffers of arrays. */

#define SIGNED 1
#define UNSIGNED 2
#define REAL 4

/* Return what kind of numbers a format of PEP 3118 names, 0 for any other. Their size is in the
   buffer; `=`, `<` and `>` only say that it does not depend on the compiler. */
static int kind_of(const char *format)
{
    const union {
        uint16_t number;
        unsigned char bytes[2];
    } order = {1};
    const char native = order.bytes[0] ? '<' : '>';
    if (format == NULL)
        return UNSIGNED;
    if (*format == '@' || *format == '=' || *format == native || (*format == '!' && native == '>'))
        format++;
    if (format[0] == '\0' || format[1] != '\0')
        return 0;
    if (strchr("bhilqn", format[0]) != NULL)
        return SIGNED;
    if (strchr("BHILQN", format[0]) != NULL)
        return UNSIGNED;
    return strchr("efd", format[0]) != NULL ? REAL : 0;
}

/* Open an array of which the name, the kinds, the size of a number in bytes (or a second one, if it
   is not 0) and whether it is written are given. Return its kind, 0 with an exception if it is
   another; then there is nothing to release. */
static int numbers(PyObject *array, const char *name, Py_buffer *view, int kinds, int size,
                   int other, int writable)
{
    int flags = (writable ? PyBUF_CONTIG : PyBUF_CONTIG_RO) | PyBUF_FORMAT;
    if (PyObject_GetBuffer(array, view, flags) < 0) {
        view->obj = NULL;
        return 0;
    }
    int kind = kind_of(view->format) & kinds;
    if (kind == 0 || (view->itemsize != size && (other == 0 || view->itemsize != other)))
        PyErr_Format(PyExc_TypeError,
                     "%s: needs %s numbers of %d%s bits in native byte order, not the format '%s' "
                     "of %zd bytes",
                     name, kinds == REAL ? "real" : "whole", size * 8, other ? " or 32" : "",
                     view->format == NULL ? "B" : view->format, view->itemsize);
    else if (view->ndim != 1)
        PyErr_Format(PyExc_ValueError, "%s: needs one dimension, not %d", name, view->ndim);
    else if (view->len > 0 && (uintptr_t)view->buf % (uintptr_t)view->itemsize != 0)
        PyErr_Format(PyExc_ValueError, "%s: is not aligned to its numbers of %zd bytes", name,
                     view->itemsize);
    else
        return kind;
    PyBuffer_Release(view);
    view->obj = NULL;
    return 0;
}

static int64_t length_of(const Py_buffer *view)
{
    return (int64_t)(view->len / view->itemsize);
}

static void release(Py_buffer *views, int n)
{
    for (int i = 0; i < n; i++)
        PyBuffer_Release(&views[i]);
}

/* Whether an array that is written shares memory with another: 1 with an exception if one does.
   Those from `first` to before `last` are written. */
static int overlap(const Py_buffer *views, int n, int first, int last)
{
    for (int a = first; a < last; a++)
        for (int b = 0; b < n; b++) {
            uintptr_t one = (uintptr_t)views[a].buf, other = (uintptr_t)views[b].buf;
            /* Those that are written were compared with each other when the first was. */
            if ((b >= first && b <= a) || views[a].len == 0 || views[b].len == 0)
                continue;
            if (one < other ? other - one < (uintptr_t)views[a].len
                            : one - other < (uintptr_t)views[b].len) {
                PyErr_SetString(PyExc_ValueError,
                                "an array that is written shares memory with another");
                return 1;
            }
        }
    return 0;
}

typedef struct {
    const void *code;
    Py_ssize_t itemsize;
    int kind;
    const int64_t *table;
    int64_t size;
} Group;

/* Add to keys what a table says of codes; 0 if a code is out of range, or if a key gets below 0 or
   too large. The last two need no branch: whatever is added to a number that is not below 0, a sum
   that does not fit has the sign of one below 0. */
#define ADD_CODES(TYPE)                                      \
    for (int64_t i = 0; i < n; i++) {                        \
        uint64_t c = (uint64_t)(int64_t)((const TYPE *)codes)[i]; \
        if (c >= size)                                       \
            return 0;                                        \
        signs |= key[i] += (uint64_t)table[c];               \
    }

static int add_codes(uint64_t *key, int64_t n, const Group *group)
{
    const void *codes = group->code;
    const int64_t *table = group->table;
    const uint64_t size = (uint64_t)group->size;
    uint64_t signs = 0;
    if (group->itemsize == 2) {
        if (group->kind == SIGNED)
            ADD_CODES(int16_t)
        else
            ADD_CODES(uint16_t)
    } else if (group->kind == SIGNED)
        ADD_CODES(int32_t)
    else
        ADD_CODES(uint32_t)
    return signs <= INT64_MAX;
}

/* group_items(codes, tables, width, rows, of_item, first, sums) -> number of groups
   Codes have 16 or 32 bits, tables 64. */
static PyObject *group_items(PyObject *self, PyObject *args)
{
    static const char *const names[4] = {"rows", "of_item", "first", "sums"};
    PyObject *codes, *tables, *given[4];
    long long width;
    Py_buffer views[2 * MOST_GROUPS + 4];
    Group group[MOST_GROUPS];
    int64_t n = 0, found = -1;
    uint64_t *key = NULL;
    int used = 0, fits = 1;
    (void)self;
    if (!PyArg_ParseTuple(args, "O!O!LOOOO", &PyTuple_Type, &codes, &PyTuple_Type, &tables, &width,
                          &given[0], &given[1], &given[2], &given[3]))
        return NULL;
    Py_ssize_t groups = PyTuple_Size(codes);
    if (groups > MOST_GROUPS || PyTuple_Size(tables) != groups) {
        PyErr_Format(PyExc_ValueError, "needs a table for each of up to %d arrays of codes, not %zd"
                     " for %zd", MOST_GROUPS, PyTuple_Size(tables), groups);
        return NULL;
    }
    if (width < 1) {
        PyErr_Format(PyExc_ValueError, "width: must be 1 or more, not %lld", width);
        return NULL;
    }
    for (int a = 0; a < 4; a++) {
        if (!numbers(given[a], names[a], &views[used], SIGNED, 4, 0, a > 0))
            goto end;
        used++;
        if (a == 0)
            n = length_of(&views[0]);
        else if (length_of(&views[a]) < n)
            goto short_array;
    }
    if (n > INT32_MAX) {
        PyErr_SetString(PyExc_ValueError, "rows: more items than 32 bits can number");
        goto end;
    }
    for (Py_ssize_t g = 0; g < groups; g++) {
        Py_buffer *code = &views[used], *table = code + 1;
        group[g].kind =
            numbers(PyTuple_GetItem(codes, g), "codes", code, SIGNED | UNSIGNED, 2, 4, 0);
        if (!group[g].kind)
            goto end;
        used++;
        if (length_of(code) != n)
            goto short_array;
        if (!numbers(PyTuple_GetItem(tables, g), "tables", table, SIGNED, 8, 0, 0))
            goto end;
        used++;
        group[g].code = code->buf;
        group[g].itemsize = code->itemsize;
        group[g].table = table->buf;
        group[g].size = length_of(table);
    }
    if (overlap(views, used, 1, 4))
        goto end;
    key = allocate_zeros(n, sizeof(uint64_t));
    if (key == NULL) {
        PyErr_NoMemory();
        goto end;
    }
    const int32_t *rows = views[0].buf;
    int32_t *of_item = views[1].buf, *first = views[2].buf;
    uint32_t *sums = views[3].buf, signs = 0;
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t g = 0; g < groups && fits; g++)
        fits = add_codes(key, n, &group[g]);
    if (fits) {
        found = number_keys(key, n, (uint64_t)width, of_item, first);
        if (found > 0) {
            memset(sums, 0, (size_t)found * sizeof(uint32_t));
            /* As with keys, what does not fit has the sign of a number below 0. */
            for (int64_t i = 0; i < n; i++)
                signs |= sums[of_item[i]] += (uint32_t)rows[i];
        }
    }
    Py_END_ALLOW_THREADS
    if (!fits || found == OUTSIDE)
        PyErr_SetString(PyExc_IndexError, "a code is outside its table, or a key outside width");
    else if (found < 0)
        PyErr_NoMemory();
    else if (signs > INT32_MAX)
        PyErr_SetString(PyExc_OverflowError, "rows: a sum is below 0, or has more than 32 bits");
    goto end;
short_array:
    PyErr_SetString(PyExc_ValueError, "arrays have different lengths");
end:
    free(key);
    release(views, used);
    return PyErr_Occurred() ? NULL : PyLong_FromLongLong(found);
}

typedef struct {
    int32_t group, value, rows;
} Entry;

/* Turn counts of places 1 to n into where each begins. */
static void begin(int32_t *places, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        places[i + 1] += places[i];
}

/* Entries of which every one has rows, in a table with a place per group and value. */
static int64_t add_up_dense(const Py_buffer *views, int64_t groups, int64_t values, uint32_t *table,
                            uint32_t *signs)
{
    const int32_t *of_item = views[0].buf, *item = views[1].buf, *value = views[2].buf;
    const int32_t *rows = views[3].buf;
    int32_t *out_group = views[4].buf, *out_value = views[5].buf;
    uint32_t *out_rows = views[6].buf;
    const int64_t n = length_of(&views[1]);
    int64_t found = 0;
    for (int64_t e = 0; e < n; e++)
        *signs |= table[of_item[item[e]] * values + value[e]] += (uint32_t)rows[e];
    for (int64_t g = 0; g < groups; g++)
        for (int64_t v = 0; v < values; v++)
            if (table[g * values + v] > 0) {
                out_group[found] = (int32_t)g;
                out_value[found] = (int32_t)v;
                out_rows[found++] = table[g * values + v];
            }
    return found;
}

/* Any entries: they are sorted by value, then by group, each time by counting, and what is equal is
   then adjacent. */
static int64_t add_up_sorted(const Py_buffer *views, int32_t *by_value, int32_t *by_group,
                             Entry *one, Entry *other, uint32_t *signs)
{
    const int32_t *of_item = views[0].buf, *item = views[1].buf, *value = views[2].buf;
    const int32_t *rows = views[3].buf;
    int32_t *out_group = views[4].buf, *out_value = views[5].buf;
    uint32_t *out_rows = views[6].buf;
    const int64_t n = length_of(&views[1]);
    int64_t found = 0;
    for (int64_t e = 0; e < n; e++)
        one[by_value[value[e]]++] = (Entry){of_item[item[e]], value[e], rows[e]};
    for (int64_t e = 0; e < n; e++)
        other[by_group[one[e].group]++] = one[e];
    for (int64_t e = 0; e < n; e++) {
        uint32_t sum = (uint32_t)other[e].rows;
        if (e == 0 || other[e].group != other[e - 1].group ||
            other[e].value != other[e - 1].value) {
            out_group[found] = other[e].group;
            out_value[found++] = other[e].value;
        } else
            sum += out_rows[found - 1];
        /* What does not fit has the sign of a number below 0. */
        *signs |= out_rows[found - 1] = sum;
    }
    return found;
}

/* group_entries(of_item, groups, item, value, values, rows, out_group, out_value, out_rows)
   -> number of entries */
static PyObject *group_entries(PyObject *self, PyObject *args)
{
    static const char *const names[7] = {"of_item",   "item",      "value",   "rows",
                                         "out_group", "out_value", "out_rows"};
    PyObject *given[7];
    long long groups, values;
    Py_buffer views[7];
    int32_t *by_value = NULL, *by_group = NULL;
    uint32_t *table = NULL, signs = 0;
    int64_t found = 0;
    Entry *one = NULL, *other = NULL;
    int used = 0, fits = 1, no_memory = 0;
    (void)self;
    if (!PyArg_ParseTuple(args, "OLOOLOOOO", &given[0], &groups, &given[1], &given[2], &values,
                          &given[3], &given[4], &given[5], &given[6]))
        return NULL;
    for (int a = 0; a < 7; a++) {
        if (!numbers(given[a], names[a], &views[used], SIGNED, 4, 0, a > 3))
            goto end;
        used++;
    }
    const int64_t n = length_of(&views[1]), items = length_of(&views[0]);
    if (length_of(&views[2]) != n || length_of(&views[3]) != n || length_of(&views[4]) < n ||
        length_of(&views[5]) < n || length_of(&views[6]) < n) {
        PyErr_SetString(PyExc_ValueError, "arrays have different lengths");
        goto end;
    }
    if (n > INT32_MAX || items > INT32_MAX) {
        PyErr_SetString(PyExc_ValueError, "more items or entries than 32 bits can number");
        goto end;
    }
    /* No group is empty. */
    if (groups < 0 || groups > items) {
        PyErr_Format(PyExc_ValueError, "groups: must be 0 to %lld, the number of items, not %lld",
                     (long long)items, groups);
        goto end;
    }
    if (values < 1 || values > INT32_MAX) {
        PyErr_Format(PyExc_ValueError, "values: must be 1 to %d, not %lld", INT32_MAX, values);
        goto end;
    }
    if (overlap(views, used, 4, 7))
        goto end;
    const int32_t *of_item = views[0].buf, *item = views[1].buf, *value = views[2].buf;
    const int32_t *rows = views[3].buf;
    /* A place of a table is empty if it has no rows. */
    int dense = groups <= (4 * n + 4096) / values;
    Py_BEGIN_ALLOW_THREADS
    for (int64_t e = 0; e < n && fits; e++) {
        uint32_t i = (uint32_t)item[e], v = (uint32_t)value[e];
        fits = i < (uint64_t)items && v < (uint64_t)values &&
               (uint32_t)of_item[i] < (uint64_t)groups;
        dense &= rows[e] > 0;
    }
    if (fits && dense) {
        table = allocate_zeros(groups * values, sizeof(uint32_t));
        no_memory = table == NULL;
        if (!no_memory)
            found = add_up_dense(views, groups, values, table, &signs);
    } else if (fits) {
        by_value = allocate_zeros(values + 1, sizeof(int32_t));
        by_group = allocate_zeros(groups + 1, sizeof(int32_t));
        one = allocate(n, sizeof(Entry));
        other = allocate(n, sizeof(Entry));
        no_memory = by_value == NULL || by_group == NULL || one == NULL || other == NULL;
        if (!no_memory) {
            for (int64_t e = 0; e < n; e++) {
                by_value[value[e] + 1]++;
                by_group[of_item[item[e]] + 1]++;
            }
            begin(by_value, values);
            begin(by_group, groups);
            found = add_up_sorted(views, by_value, by_group, one, other, &signs);
        }
    }
    Py_END_ALLOW_THREADS
    if (!fits)
        PyErr_SetString(PyExc_IndexError, "an entry is outside items, groups or values");
    else if (no_memory)
        PyErr_NoMemory();
    else if (signs > INT32_MAX)
        PyErr_SetString(PyExc_OverflowError, "rows: a sum is below 0, or has more than 32 bits");
end:
    free(by_value), free(by_group), free(table), free(one), free(other);
    release(views, used);
    return PyErr_Occurred() ? NULL : PyLong_FromLongLong(found);
}

/* Add the rows of items in chosen groups to the sum of their code; 0 if a code is out of range.
   Nothing is chosen by a branch, which would be guessed wrongly as often as rightly. */
#define ADD_ROWS(TYPE)                                            \
    for (int64_t i = 0; i < n; i++) {                             \
        uint64_t c = (uint64_t)(int64_t)((const TYPE *)codes)[i]; \
        if (c >= size)                                            \
            return 0;                                             \
        sums[c] += (int64_t)rows[i] * (chosen[of_item[i]] != 0);  \
    }

static int add_rows(const int32_t *of_item, const uint8_t *chosen, const int32_t *rows, int64_t n,
                    const void *codes, Py_ssize_t itemsize, int kind, int64_t *sums, uint64_t size)
{
    if (itemsize == 2) {
        if (kind == SIGNED)
            ADD_ROWS(int16_t)
        else
            ADD_ROWS(uint16_t)
    } else if (kind == SIGNED)
        ADD_ROWS(int32_t)
    else
        ADD_ROWS(uint32_t)
    return 1;
}

/* add_up_chosen(of_item, chosen, rows, codes, sums): add the rows of the items of chosen groups to
   sums of 64 bits, one per code. Which groups are chosen is said in bytes, codes have 16 or 32
   bits. */
static PyObject *add_up_chosen(PyObject *self, PyObject *args)
{
    PyObject *given[5];
    Py_buffer views[5];
    int used = 0, inside = 1, kind = 0;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOOOO", &given[0], &given[1], &given[2], &given[3], &given[4]))
        return NULL;
    if (!numbers(given[0], "of_item", &views[0], SIGNED, 4, 0, 0))
        goto end;
    used = 1;
    if (!numbers(given[1], "chosen", &views[1], UNSIGNED, 1, 0, 0))
        goto end;
    used = 2;
    if (!numbers(given[2], "rows", &views[2], SIGNED, 4, 0, 0))
        goto end;
    used = 3;
    kind = numbers(given[3], "codes", &views[3], SIGNED | UNSIGNED, 2, 4, 0);
    if (!kind)
        goto end;
    used = 4;
    if (!numbers(given[4], "sums", &views[4], SIGNED, 8, 0, 1))
        goto end;
    used = 5;
    const int64_t n = length_of(&views[0]), groups = length_of(&views[1]);
    if (length_of(&views[2]) != n || length_of(&views[3]) != n) {
        PyErr_SetString(PyExc_ValueError, "arrays have different lengths");
        goto end;
    }
    if (overlap(views, used, 4, 5))
        goto end;
    const int32_t *of_item = views[0].buf;
    Py_BEGIN_ALLOW_THREADS
    for (int64_t i = 0; i < n; i++)
        inside &= (uint64_t)(int64_t)of_item[i] < (uint64_t)groups;
    inside = inside && add_rows(of_item, views[1].buf, views[2].buf, n, views[3].buf,
                                views[3].itemsize, kind, views[4].buf,
                                (uint64_t)length_of(&views[4]));
    Py_END_ALLOW_THREADS
    if (!inside)
        PyErr_SetString(PyExc_IndexError, "an item is outside groups, or a code outside sums");
end:
    release(views, used);
    if (PyErr_Occurred())
        return NULL;
    Py_RETURN_NONE;
}

/* Read the lengths of a grid that has `size` places, without those of 1, which change nothing; -1
   with an exception if there is no such grid. As no length is below 2, there are less than 64. */
static int read_shape(PyObject *shape, int64_t size, int64_t *lengths)
{
    int axes = 0;
    int64_t product = 1;
    for (Py_ssize_t a = 0; a < PyTuple_Size(shape); a++) {
        int64_t length = PyLong_AsLongLong(PyTuple_GetItem(shape, a));
        if (length == -1 && PyErr_Occurred())
            return -1;
        if (length < 0) {
            PyErr_Format(PyExc_ValueError, "shape: no length can be %lld", (long long)length);
            return -1;
        }
        /* A product that is too large stays so, unless a length is 0: then there is no place. */
        if (length == 0)
            product = 0;
        else if (product > size / length)
            product = size + 1;
        else {
            product *= length;
            if (length > 1 && product > 0)
                lengths[axes++] = length;
        }
    }
    if (product != size) {
        PyErr_Format(PyExc_ValueError, "shape: does not have the %lld places of the array",
                     (long long)size);
        return -1;
    }
    return axes;
}

/* sum_boxes(counts, shape, above): 32-bit floats become, in place, sums of everything at or below
   (or above) each place of a grid. */
static PyObject *sum_boxes(PyObject *self, PyObject *args)
{
    PyObject *array, *shape;
    int above;
    Py_buffer view;
    int64_t lengths[64];
    (void)self;
    if (!PyArg_ParseTuple(args, "OO!p", &array, &PyTuple_Type, &shape, &above))
        return NULL;
    if (!numbers(array, "counts", &view, REAL, 4, 0, 1))
        return NULL;
    const int64_t size = length_of(&view);
    const int axes = read_shape(shape, size, lengths);
    if (axes < 0) {
        PyBuffer_Release(&view);
        return NULL;
    }
    float *grid = view.buf;
    Py_BEGIN_ALLOW_THREADS
    int64_t step = 1;
    for (int a = size > 0 ? axes - 1 : -1; a >= 0; a--) {
        int64_t block = step * lengths[a];
        for (int64_t start = 0; start < size; start += block)
            if (above)
                for (int64_t i = start + block - step - 1; i >= start; i--)
                    grid[i] += grid[i + step];
            else
                for (int64_t i = start + step; i < start + block; i++)
                    grid[i] += grid[i - step];
        step = block;
    }
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&view);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"group_items", group_items, METH_VARARGS, "Group items by their codes."},
    {"group_entries", group_entries, METH_VARARGS, "Add up entries of groups of items."},
    {"add_up_chosen", add_up_chosen, METH_VARARGS, "Add up the rows of items of some groups."},
    {"sum_boxes", sum_boxes, METH_VARARGS, "Add up everything below each place, or above it."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_kernel", "Inner loops of searches.", 0, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__kernel(void)
{
    PyObject *made = PyModule_Create(&module);
    /* What was compiled from an older source is not used: kernel.py says which it needs. */
    if (made != NULL && PyModule_AddIntConstant(made, "VERSION", 5) < 0) {
        Py_DECREF(made);
        return NULL;
    }
    return made;
}
