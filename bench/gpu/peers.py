"""Times what Python programs use for device memory; part of bench/gpu/run. Writes JSON to standard output."""
import json
import os
import statistics
import subprocess
import sys
import time

SIZES = {"1 KiB": 1 << 10, "64 KiB": 64 << 10, "1 MiB": 1 << 20, "2 MiB": 2 << 20, "32 MiB": 32 << 20, "1 GiB": 1 << 30}
SAMPLES = 30
BATCH = 2000


def row(scenario, parameter, samples):
    samples = sorted(samples)
    n = len(samples)
    return {"scenario": scenario, "parameter": parameter, "threads": 1, "nanos": statistics.median(samples),
            "spread": (samples[n - 1 - n // 4] - samples[n // 4]) / 2, "bytes": -1}


def quick(scenario, parameter, operation):
    operation(BATCH)
    samples = []
    for _ in range(SAMPLES):
        start = time.perf_counter_ns()
        operation(BATCH)
        samples.append((time.perf_counter_ns() - start) / BATCH)
    return row(scenario, parameter, samples)


def torch_hits(rows):
    import torch
    torch.cuda.init()
    torch.empty(1, device="cuda")
    stream = torch.cuda.current_stream().cuda_stream
    allocate, free = torch._C._cuda_cudaCachingAllocator_raw_alloc, torch._C._cuda_cudaCachingAllocator_raw_delete

    for name, size in SIZES.items():
        def loop(count, size=size):
            for _ in range(count):
                free(allocate(size, stream))
        rows.append(quick("PyTorch caching allocator", name, loop))


def torch_expandable(rows):
    import torch
    torch.cuda.init()
    torch.empty(1, device="cuda")
    stream = torch.cuda.current_stream().cuda_stream
    allocate, free = torch._C._cuda_cudaCachingAllocator_raw_alloc, torch._C._cuda_cudaCachingAllocator_raw_delete
    samples = []
    for i in range(15):
        torch.cuda.empty_cache()
        torch.cuda.synchronize()
        start = time.perf_counter_ns()
        address = allocate(1 << 30, stream)
        if i >= 5:
            samples.append(time.perf_counter_ns() - start)
        free(address)
    rows.append(row("PyTorch expandable segments, cold", "1 GiB", samples))


def cupy_pool(rows):
    import cupy
    pool = cupy.get_default_memory_pool()
    for name, size in SIZES.items():
        def loop(count, size=size):
            for _ in range(count):
                pool.malloc(size)
        rows.append(quick("CuPy pool", name, loop))


def main():
    if len(sys.argv) > 1:
        rows = []
        globals()[sys.argv[1]](rows)
        print(json.dumps(rows))
        return
    rows = []
    for part, extra in (("torch_hits", {}), ("cupy_pool", {}),
                        ("torch_expandable", {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True",
                                              "PYTORCH_ALLOC_CONF": "expandable_segments:True"})):
        done = subprocess.run([sys.executable, __file__, part], env={**os.environ, **extra}, capture_output=True, text=True)
        if done.returncode == 0:
            rows += json.loads(done.stdout.strip().splitlines()[-1])
        else:
            print(part + " was skipped: " + (done.stderr.strip().splitlines() or ["no reason"])[-1], file=sys.stderr)
    json.dump(rows, sys.stdout, indent=1)


main()
