/* The inner loops of searches, for where a C compiler is at hand.

   Each function does what a NumPy function of the same name in kernel.py does, bit for bit; tests
   hold one to the other. Arrays come as buffers: contiguous, of 32-bit whole numbers unless it says
   otherwise. What comes from outside is checked: no index is used before it was found in range. */

#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030B0000
#endif
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MOST_GROUPS 64

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

static int64_t number_dense(const int64_t *key, int64_t n, int64_t width, int32_t *of_item,
                            int32_t *first)
{
    int32_t *number = malloc((size_t)width * sizeof(int32_t));
    int32_t found = 0;
    if (number == NULL)
        return -1;
    memset(number, 0xff, (size_t)width * sizeof(int32_t));
    for (int64_t i = n - 1; i >= 0; i--)
        number[key[i]] = (int32_t)i;
    for (int64_t k = 0; k < width; k++)
        if (number[k] >= 0) {
            first[found] = number[k];
            number[k] = found++;
        }
    for (int64_t i = 0; i < n; i++)
        of_item[i] = number[key[i]];
    free(number);
    return found;
}

/* Keys of which most are different are sorted at once: hashing them would only miss the cache. */
static int64_t number_sorted(const int64_t *key, int64_t n, int32_t *of_item, int32_t *first)
{
    Found *found = malloc((size_t)(n + 1) * sizeof(Found));
    Found *other = malloc((size_t)(n + 1) * sizeof(Found));
    uint64_t largest = 0, last = 0;
    int32_t distinct = 0;
    if (found == NULL || other == NULL) {
        free(found), free(other);
        return -1;
    }
    for (int64_t i = 0; i < n; i++) {
        found[i] = (Found){(uint64_t)key[i], i};
        largest |= (uint64_t)key[i];
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

static int64_t number_sparse(const int64_t *key, int64_t n, int32_t *of_item, int32_t *first)
{
    int64_t size = 16, distinct = 0, room = 4096, i = 0;
    uint64_t largest = 0;
    while (size < 2 * n)
        size *= 2;
    /* A slot is the first item that has its key; small slots stay in the cache. */
    int32_t *slots = malloc((size_t)size * sizeof(int32_t));
    Found *found = malloc((size_t)room * sizeof(Found));
    Found *other = NULL;
    if (slots == NULL || found == NULL)
        goto no_memory;
    memset(slots, 0xff, (size_t)size * sizeof(int32_t));
    for (; i < n; i++) {
        uint64_t k = (uint64_t)key[i];
        int64_t s = (int64_t)(mix(k) & (uint64_t)(size - 1));
        if (i == TRIED && n > 2 * TRIED && distinct > TRIED / 2) {
            free(slots), free(found);
            return number_sorted(key, n, of_item, first);
        }
        while (slots[s] >= 0 && (uint64_t)key[slots[s]] != k)
            s = (s + 1) & (size - 1);
        if (slots[s] < 0) {
            if (distinct == room) {
                room *= 2;
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
    slots = malloc((size_t)(n + 1) * sizeof(int32_t));
    other = malloc((size_t)(distinct + 1) * sizeof(Found));
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
    return -1;
}

static int64_t number_keys(const int64_t *key, int64_t n, int64_t width, int32_t *of_item,
                           int32_t *first)
{
    if (n > INT32_MAX)
        return -1;
    if (width <= 4 * n + 4096)
        return number_dense(key, n, width, of_item, first);
    return number_sparse(key, n, of_item, first);
}

/* Buffers of arrays. */

static void *numbers(PyObject *array, Py_buffer *view, int64_t *n, int size, int writable)
{
    if (PyObject_GetBuffer(array, view, writable ? PyBUF_CONTIG : PyBUF_CONTIG_RO) < 0)
        return NULL;
    /* Codes, for which no size is given, may have 16 bits too. */
    if (size ? view->itemsize != size : view->itemsize != 2 && view->itemsize != 4) {
        PyErr_SetString(PyExc_TypeError, "an array has numbers of another size");
        PyBuffer_Release(view);
        view->obj = NULL;
        return NULL;
    }
    *n = (int64_t)(view->len / view->itemsize);
    return view->buf;
}

static void release(Py_buffer *views, int n)
{
    for (int i = 0; i < n; i++)
        if (views[i].obj != NULL)
            PyBuffer_Release(&views[i]);
}

/* Add to keys what a table says of codes; 0 if a code is out of range. */
#define ADD_CODES(TYPE)                                 \
    for (int64_t i = 0; i < n; i++) {                   \
        uint64_t c = ((const TYPE *)codes)[i];          \
        if (c >= (uint64_t)size)                        \
            return 0;                                   \
        key[i] += table[c];                             \
    }

static int add_codes(int64_t *key, int64_t n, const void *codes, Py_ssize_t itemsize,
                     const int64_t *table, int64_t size)
{
    if (itemsize == 2)
        ADD_CODES(uint16_t)
    else
        ADD_CODES(uint32_t)
    return 1;
}

/* group_items(codes, tables, width, rows, of_item, first, sums) -> number of groups
   Codes have 16 or 32 bits, tables 64. */
static PyObject *group_items(PyObject *self, PyObject *args)
{
    PyObject *codes, *tables, *given[4];
    long long width;
    Py_buffer views[2 * MOST_GROUPS + 4];
    void *code[MOST_GROUPS];
    Py_ssize_t itemsize[MOST_GROUPS];
    int64_t *table[MOST_GROUPS], size[MOST_GROUPS], n = 0, len, *key = NULL, found = -1;
    int32_t *arrays[4];
    int used = 0;
    (void)self;
    if (!PyArg_ParseTuple(args, "O!O!LOOOO", &PyTuple_Type, &codes, &PyTuple_Type, &tables, &width,
                          &given[0], &given[1], &given[2], &given[3]))
        return NULL;
    Py_ssize_t groups = PyTuple_Size(codes);
    if (groups > MOST_GROUPS || PyTuple_Size(tables) != groups || width < 1) {
        PyErr_SetString(PyExc_ValueError, "there is a table for every array of codes");
        return NULL;
    }
    memset(views, 0, sizeof(views));
    for (int a = 0; a < 4; a++) {
        arrays[a] = numbers(given[a], &views[used], &len, 4, a > 0);
        if (arrays[a] == NULL)
            goto end;
        used++;
        if (a == 0)
            n = len;
        else if (len < n)
            goto short_array;
    }
    for (Py_ssize_t g = 0; g < groups; g++) {
        code[g] = numbers(PyTuple_GetItem(codes, g), &views[used], &len, 0, 0);
        if (code[g] == NULL)
            goto end;
        itemsize[g] = views[used++].itemsize;
        if (len != n)
            goto short_array;
        table[g] = numbers(PyTuple_GetItem(tables, g), &views[used], &size[g], 8, 0);
        if (table[g] == NULL)
            goto end;
        used++;
    }
    key = calloc((size_t)(n + 1), sizeof(int64_t));
    if (key == NULL) {
        PyErr_NoMemory();
        goto end;
    }
    int fits = 1;
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t g = 0; g < groups && fits; g++)
        fits = add_codes(key, n, code[g], itemsize[g], table[g], size[g]);
    for (int64_t i = 0; i < n; i++)
        fits &= (uint64_t)key[i] < (uint64_t)width;
    if (fits) {
        found = number_keys(key, n, width, arrays[1], arrays[2]);
        if (found >= 0) {
            memset(arrays[3], 0, (size_t)found * sizeof(int32_t));
            for (int64_t i = 0; i < n; i++)
                arrays[3][arrays[1][i]] += arrays[0][i];
        }
    }
    Py_END_ALLOW_THREADS
    if (!fits)
        PyErr_SetString(PyExc_IndexError, "a code is out of range");
    else if (found < 0)
        PyErr_NoMemory();
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

/* group_entries(of_item, groups, item, value, values, rows, out_group, out_value, out_rows)
   -> number of entries
   They are sorted by value, then by group, each time by counting: what is equal is then adjacent. */
static PyObject *group_entries(PyObject *self, PyObject *args)
{
    PyObject *given[7];
    long long groups, values;
    Py_buffer views[7];
    int32_t *arrays[7], *by_value = NULL, *by_group = NULL;
    int64_t lens[7], found = 0;
    Entry *one = NULL, *other = NULL;
    int used = 0, fits = 1;
    (void)self;
    if (!PyArg_ParseTuple(args, "OLOOLOOOO", &given[0], &groups, &given[1], &given[2], &values,
                          &given[3], &given[4], &given[5], &given[6]))
        return NULL;
    if (groups < 0 || values < 1 || groups > INT32_MAX || values > INT32_MAX) {
        PyErr_SetString(PyExc_ValueError, "too many groups or values");
        return NULL;
    }
    memset(views, 0, sizeof(views));
    for (int a = 0; a < 7; a++) {
        arrays[a] = numbers(given[a], &views[used], &lens[a], 4, a > 3);
        if (arrays[a] == NULL)
            goto end;
        used++;
    }
    const int64_t n = lens[1];
    if (lens[2] != n || lens[3] != n || lens[4] < n || lens[5] < n || lens[6] < n ||
        n > INT32_MAX) {
        PyErr_SetString(PyExc_ValueError, "arrays have different lengths");
        goto end;
    }
    by_value = calloc((size_t)(values + 1), sizeof(int32_t));
    by_group = calloc((size_t)(groups + 1), sizeof(int32_t));
    one = malloc((size_t)(n + 1) * sizeof(Entry));
    other = malloc((size_t)(n + 1) * sizeof(Entry));
    if (by_value == NULL || by_group == NULL || one == NULL || other == NULL) {
        PyErr_NoMemory();
        goto end;
    }
    Py_BEGIN_ALLOW_THREADS
    for (int64_t e = 0; e < n && fits; e++) {
        uint32_t item = (uint32_t)arrays[1][e], value = (uint32_t)arrays[2][e];
        fits = item < (uint64_t)lens[0] && value < (uint64_t)values &&
               (uint32_t)arrays[0][item] < (uint64_t)groups;
        if (fits) {
            by_value[value + 1]++;
            by_group[arrays[0][item] + 1]++;
        }
    }
    if (fits) {
        begin(by_value, values);
        begin(by_group, groups);
        for (int64_t e = 0; e < n; e++) {
            int32_t value = arrays[2][e];
            one[by_value[value]++] = (Entry){arrays[0][arrays[1][e]], value, arrays[3][e]};
        }
        for (int64_t e = 0; e < n; e++)
            other[by_group[one[e].group]++] = one[e];
        for (int64_t e = 0; e < n; e++) {
            if (e == 0 || other[e].group != other[e - 1].group ||
                other[e].value != other[e - 1].value) {
                arrays[4][found] = other[e].group;
                arrays[5][found] = other[e].value;
                arrays[6][found++] = other[e].rows;
            } else
                arrays[6][found - 1] += other[e].rows;
        }
    }
    Py_END_ALLOW_THREADS
    if (!fits)
        PyErr_SetString(PyExc_IndexError, "an entry is out of range");
end:
    free(by_value), free(by_group), free(one), free(other);
    release(views, used);
    return PyErr_Occurred() ? NULL : PyLong_FromLongLong(found);
}

/* sum_boxes(counts, shape, above): 32-bit floats become, in place, sums of everything at or below
   (or above) each place of a grid. */
static PyObject *sum_boxes(PyObject *self, PyObject *args)
{
    PyObject *array, *shape;
    int above;
    Py_buffer view;
    (void)self;
    if (!PyArg_ParseTuple(args, "OO!p", &array, &PyTuple_Type, &shape, &above))
        return NULL;
    if (PyObject_GetBuffer(array, &view, PyBUF_CONTIG) < 0)
        return NULL;
    int64_t size = (int64_t)(view.len / 4), step = 1;
    Py_ssize_t axes = PyTuple_Size(shape);
    int64_t lengths[MOST_GROUPS];
    for (Py_ssize_t a = 0; a < axes && a < MOST_GROUPS; a++) {
        lengths[a] = PyLong_AsLongLong(PyTuple_GetItem(shape, a));
        step *= lengths[a];
    }
    if (PyErr_Occurred() || view.itemsize != 4 || axes > MOST_GROUPS || step != size) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "the shape does not fit the array");
        PyBuffer_Release(&view);
        return NULL;
    }
    float *grid = view.buf;
    Py_BEGIN_ALLOW_THREADS
    step = 1;
    for (Py_ssize_t a = axes - 1; a >= 0; a--) {
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
    if (made != NULL && PyModule_AddIntConstant(made, "VERSION", 3) < 0) {
        Py_DECREF(made);
        return NULL;
    }
    return made;
}
