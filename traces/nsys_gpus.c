/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The devices that work ran on and memory is on, by their numbers on the machine, where the file
 * tells these: what a process calls device 0 is a matter of its environment. */
#include <stdlib.h>

#include "base/array.h"
#include "traces/nsys_internal.h"

struct device_row {
    int64_t gpu, device, pid;
};

struct gpu_row {
    int64_t id, memory_bytes, cuda_device, n_copy_engines;
};

struct device_tables {
    struct device_row *devices;
    struct gpu_row *gpus;
    size_t n_devices, n_gpus, devices_room, gpus_room;
};

static enum weir_status read_devices(struct nsys *nsys, struct device_tables *tables,
                                     struct weir_error *err)
{
    sqlite3_stmt *statement;
    enum weir_status status = nsys_select(nsys, NSYS_DEVICE_INFO, NULL, &statement, err);
    int result = SQLITE_DONE;

    while (status == WEIR_OK && statement != NULL &&
           (result = sqlite3_step(statement)) == SQLITE_ROW) {
        status = array_grow(&tables->devices, &tables->devices_room, tables->n_devices + 1, err);
        if (status == WEIR_OK)
            tables->devices[tables->n_devices++] = (struct device_row){
                nsys_column_or(statement, 0, -1), nsys_column_or(statement, 1, -1),
                nsys_column_or(statement, 2, -1)};
        nsys->tables[NSYS_DEVICE_INFO].n_read++;
    }
    if (status != WEIR_OK || statement == NULL) {
        (void)sqlite3_finalize(statement);
        return status;
    }
    return nsys_end(nsys, NSYS_DEVICE_INFO, statement, result, err);
}

static enum weir_status read_gpus(struct nsys *nsys, struct device_tables *tables,
                                  struct weir_error *err)
{
    sqlite3_stmt *statement;
    enum weir_status status = nsys_select(nsys, NSYS_GPU_INFO, NULL, &statement, err);
    int result = SQLITE_DONE;

    while (status == WEIR_OK && statement != NULL &&
           (result = sqlite3_step(statement)) == SQLITE_ROW) {
        status = array_grow(&tables->gpus, &tables->gpus_room, tables->n_gpus + 1, err);
        if (status == WEIR_OK)
            tables->gpus[tables->n_gpus++] =
                (struct gpu_row){nsys_column_or(statement, 0, -1), nsys_column_or(statement, 1, 0),
                                 nsys_column_or(statement, 2, -1), nsys_column_or(statement, 3, 0)};
        nsys->tables[NSYS_GPU_INFO].n_read++;
    }
    if (status != WEIR_OK || statement == NULL) {
        (void)sqlite3_finalize(statement);
        return status;
    }
    return nsys_end(nsys, NSYS_GPU_INFO, statement, result, err);
}

/* The device that a process calls `device`: its table of devices says; else the GPU table gives the
 * number that CUDA had for it; else the number is taken as it is. */
static struct nsys_gpu gpu_of(const struct device_tables *tables, int64_t process, int64_t device)
{
    struct nsys_gpu gpu = {.number = device, .domain = NSYS_NONE};
    const struct gpu_row *found = NULL;
    bool is_told = false;

    for (size_t i = 0; i < tables->n_devices && !is_told; i++) {
        if (tables->devices[i].pid == (process & 0xFFFFFF) && tables->devices[i].device == device) {
            gpu.number = tables->devices[i].gpu;
            is_told = true;
        }
    }
    for (size_t i = 0; i < tables->n_gpus; i++) {
        const struct gpu_row *row = &tables->gpus[i];
        if (is_told ? row->id == gpu.number : row->cuda_device == device)
            found = row;
    }
    for (size_t i = 0; i < tables->n_gpus && found == NULL; i++) {
        if (tables->gpus[i].id == gpu.number)
            found = &tables->gpus[i];
    }
    if (found != NULL) {
        gpu.number = found->id;
        gpu.memory_bytes = found->memory_bytes > 0 ? found->memory_bytes : 0;
        gpu.n_copy_engines = found->n_copy_engines > 0 ? found->n_copy_engines : 0;
    }
    return gpu;
}

/* Its place among those in use, which it joins if it is new. */
static enum weir_status note_gpu(struct nsys *nsys, const struct nsys_gpu *gpu, uint32_t *place,
                                 struct weir_error *err)
{
    enum weir_status status;

    for (*place = 0; *place < nsys->n_gpus; (*place)++) {
        if (nsys->gpus[*place].number == gpu->number)
            return WEIR_OK;
    }
    status = array_grow(&nsys->gpus, &nsys->gpus_room, (size_t)nsys->n_gpus + 1, err);
    if (status == WEIR_OK)
        nsys->gpus[nsys->n_gpus++] = *gpu;
    return status;
}

enum weir_status nsys_read_gpus(struct nsys *nsys, struct weir_error *err)
{
    struct device_tables tables = {.devices = NULL};
    int64_t process, device;
    uint32_t *place;
    enum weir_status status = read_devices(nsys, &tables, err);

    if (status == WEIR_OK)
        status = read_gpus(nsys, &tables, err);
    for (uint32_t i = 0; i < nsys->n_streams && status == WEIR_OK; i++) {
        struct nsys_stream *stream = &nsys->streams[i];
        const struct nsys_gpu gpu = gpu_of(&tables, stream->process, stream->device);
        status = note_gpu(nsys, &gpu, &stream->gpu, err);
    }
    for (uint32_t i = 0; i < nsys->n_memories && status == WEIR_OK; i++) {
        struct nsys_memory *memory = &nsys->memories[i];
        const struct nsys_gpu gpu = gpu_of(&tables, memory->process, memory->device);
        status = note_gpu(nsys, &gpu, &memory->gpu, err);
    }
    for (size_t at = 0;
         status == WEIR_OK && nsys_window_device(nsys, at, &process, &device, &place); at++) {
        const struct nsys_gpu gpu = gpu_of(&tables, process, device);
        status = note_gpu(nsys, &gpu, place, err);
    }
    free(tables.devices);
    free(tables.gpus);
    return status;
}
