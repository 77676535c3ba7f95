#!/usr/bin/env python3
"""One network as artifacts and in PyTorch, in turns, in one process; and what this machine could do at best.

usage: bench.py FOLDER GROUP MODE [dry]     (tests/gpu/run calls it; GROUP is a member of pack.json's `bench`)

Inputs and outputs are on the card; a run is timed by the wall until its results are there, the median over all rounds.
Weights are random on both sides and made up anew in each target's layout, so results are not compared: golden cases of the
other sections are. PyTorch runs in inference mode, images channels last, `torch.compile(mode=MODE)` with frozen weights and
CUDA graphs; f32 is f32 on both sides (no TF32).
"""
import json, os, statistics, subprocess, sys, time
from pathlib import Path

import numpy as np


def put(**row):
    sys.stdout.write(json.dumps(row) + '\n')
    sys.stdout.flush()


def find_torch(name, dry):
    try:
        import torch
    except ImportError:
        return put(name=name, skip='there is no PyTorch')
    return torch if dry or torch.cuda.is_available() else put(name=name, skip='PyTorch finds no GPU')


def network(name):
    """The same architecture as the ONNX file of that name."""
    import torch
    torch.manual_seed(1)
    if name.startswith('bert_base'):
        from transformers import BertConfig, BertModel
        return BertModel(BertConfig()).eval()
    import torchvision
    return getattr(torchvision.models, name)(weights=None).eval()


def example(io, numpy_type, random):
    """An input as the network may get it: an image, tokens, a mask of some."""
    name, shape = io.name.decode(), tuple(io.dims[:io.ndim])
    if numpy_type.kind == 'f':
        return random.standard_normal(shape).astype(numpy_type)
    if 'mask' in name:
        return np.broadcast_to(np.arange(shape[-1]) < 100, shape).astype(numpy_type)
    return (random.integers(5, 30522, shape) if 'ids' in name and 'type' not in name else np.zeros(shape)).astype(numpy_type)


def empty_outputs(artifact, numpy_type):
    return [np.full(tuple(io.dims[:io.ndim]), 111, numpy_type(io.dtype)) for io in artifact.outputs]


class Bench:
    def __init__(self, folder, group, mode, dry, torch):
        self.torch, self.folder, self.group, self.mode, self.dry = torch, folder, group, mode, dry
        self.on_card = torch.cuda.is_available()
        self.place = 'cuda' if self.on_card else 'cpu'
        self.set_precision()
        self.engines, self.kept, self.sessions = {}, [], []

    def set_precision(self):
        self.torch.set_float32_matmul_precision('highest')
        self.torch.backends.cudnn.allow_tf32 = False
        self.torch.backends.cudnn.benchmark = True

    def synchronize(self):
        if self.on_card:
            self.torch.cuda.synchronize()

    # ---- artifacts
    def on_place(self, arrays):
        tensors = [self.torch.from_numpy(a).to(self.place) for a in arrays]
        self.kept.append(tensors)
        return tensors

    def session(self, file):
        """A session whose runs read `self.inputs` and write arrays of their own."""
        import cameo
        from artifact import CPU, CUDA, Artifact, Session
        artifact = Artifact(self.folder / file)
        where = CUDA if self.on_card else CPU
        arrays = self.inputs, empty_outputs(artifact, cameo._numpy_type)
        self.sessions.append(Session(artifact, *([t.data_ptr() for t in self.on_place(a)] for a in arrays), where))
        return self.sessions[-1]

    def close(self):
        for session in self.sessions:
            session.close()

    def add_artifacts(self):
        import cameo
        from artifact import Artifact
        random = np.random.default_rng(1)
        declared = Artifact(self.folder / next(iter(self.group['files'].values()))).inputs
        self.inputs = [example(io, cameo._numpy_type(io.dtype), random) for io in declared]
        for name, file in self.group['files'].items():
            session = self.session(file)
            session.run()
            self.synchronize()
            self.engines[name] = session.run

    def cold(self):
        """Processes of their own, without the driver's cache: what a first user waits for; and the slowest steps."""
        for name, file in self.group['files'].items():
            words = ['--json', '--device=cuda:0', '--runs=1', '--warmup=0']
            said = self.program(file, 'bench', *words)['cases'][0]
            put(name=self.group['name'], engine=name, load_ms=said['load_ns'] / 1e6, first_run_ms=said['first_run_ns'] / 1e6,
                bytes=os.path.getsize(self.folder / file))
        if not self.dry:
            steps = self.program(next(iter(self.group['files'].values())), 'profile', '--json', '--device=cuda:0', '--runs=10', '--warmup=2')
            top = sorted(steps['nodes'], key=lambda n: -n['ns'])[:12]
            put(name=self.group['name'], steps_us=steps['total_ns'] / 1e3, count=len(steps['nodes']),
                slowest=[[n['ns'] / 1e3, n['kernel'], ' '.join(n['names'])[:100]] for n in top])

    def program(self, file, *words):
        done = subprocess.run([self.folder / file, *words], capture_output=True, text=True, env={**os.environ, 'CUDA_CACHE_DISABLE': '1'})
        if done.returncode:
            raise RuntimeError(f'{file} {words[0]}: {done.stderr.strip()}')
        return json.loads(done.stdout)

    # ---- PyTorch
    def add_eager(self):
        self.model = network(self.group['network']).to(self.place)
        tensors = self.on_place(self.inputs)
        if self.group['dtype'] == 'f16':
            self.model = self.model.half()
        if tensors[0].dim() == 4:
            self.model = self.model.to(memory_format=self.torch.channels_last)
            tensors = [t.to(memory_format=self.torch.channels_last) for t in tensors]
        self.tensors = tensors
        self.add_torch('eager', self.model)

    def add_torch(self, name, model):
        def run():
            model(*self.tensors)
            self.synchronize()
        run()
        self.engines[name] = run

    def add_compiled(self):
        import torch._inductor.config
        for freezing in (True, False):
            begun, torch._inductor.config.freezing = time.monotonic(), freezing
            try:
                self.add_torch('compile', torch.compile(self.model, mode=self.mode))
                return put(name=self.group['name'], engine='compile', mode=self.mode, freezing=freezing, compile_s=time.monotonic() - begun)
            except Exception as e:
                put(name=self.group['name'], engine='compile', freezing=freezing, note=f'{type(e).__name__}: {str(e)[:500]}')
                torch._dynamo.reset()

    # ---- rounds
    def measure_all(self):
        rounds = (1, 0) if self.dry else (5, 0.2)
        self.cold()
        self.add_artifacts()
        try:
            self.add_eager()
        except (ImportError, AttributeError) as e:
            put(name=self.group['name'], note=f'no PyTorch network: {e}')
        if 'eager' in self.engines:
            self.measure(1, rounds[1] / 2)  # in case that the next step takes too long
            self.add_compiled()
        self.measure(*rounds)

    def measure(self, rounds, seconds):
        times = {name: [] for name in self.engines}
        for name, run in self.engines.items():
            self.sample(run, seconds / 5)  # not counted
        for _ in range(rounds):
            for name, run in self.engines.items():
                times[name].append(self.sample(run, seconds))
        ms = {name: summary(of_rounds) for name, of_rounds in times.items()}
        put(name=self.group['name'], ms=ms, gflop=self.group['gflop'], mbytes=self.group['mbytes'],
            torch=self.torch.__version__, on=self.place, clocks=clocks())

    def sample(self, run, seconds):
        taken, end = [], time.perf_counter() + seconds
        while not taken or not self.dry and (len(taken) < 3 or time.perf_counter() < end):
            begun = time.perf_counter()
            run()
            taken.append(1e3 * (time.perf_counter() - begun))
        return taken


def clocks():
    """Of the multiprocessors and of the memory, now."""
    words = 'nvidia-smi', '-i', '0', '--query-gpu=clocks.sm,clocks.mem', '--format=csv,noheader'
    try:
        return subprocess.run(words, capture_output=True, text=True, timeout=20).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ''


def summary(of_rounds):
    """`spread`: how far the medians of the rounds lie apart, as a share; a difference below it is noise."""
    taken = [t for one in of_rounds for t in one]
    medians, median = [statistics.median(one) for one in of_rounds], statistics.median(taken)
    return {'median': median, 'min': min(taken), 'runs': len(taken), 'spread': (max(medians) - min(medians)) / median}


def ceilings():
    """What copies and products reach through PyTorch, on random data; bytes are those read and those written."""
    if not (torch := find_torch('ceilings', False)):
        return

    def seconds(run, times):
        for _ in range(3):
            run()
        begun, ended = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        taken = []
        for _ in range(times):
            begun.record()
            run()
            ended.record()
            ended.synchronize()
            taken.append(begun.elapsed_time(ended) / 1e3)
        return statistics.median(taken)

    a = torch.randn(1 << 29, device='cuda')
    b = torch.empty_like(a)
    put(what='copy', value=2 * a.numel() * 4 / seconds(lambda: b.copy_(a), 20) / 1e9, unit='GB/s')
    del a, b
    n = 8192
    kinds = {'f32': torch.float32, 'tf32': torch.float32, 'f16': torch.float16, 'bf16': torch.bfloat16}
    for what, dtype in kinds.items():
        torch.set_float32_matmul_precision('high' if what == 'tf32' else 'highest')
        x, y = (torch.randn(n, n, device='cuda', dtype=dtype) for _ in range(2))
        put(what=f'{what} product', value=2 * n**3 / seconds(lambda: x @ y, 10) / 1e12, unit='TFLOP/s')
    one = torch.zeros(1, device='cuda')
    put(what='launch and wait', value=seconds(lambda: one.add_(1), 200) * 1e6, unit='us')


def main(folder, group, mode, dry):
    folder, group = Path(folder), json.loads(group)
    sys.path.insert(0, str(folder))
    if not (torch := find_torch(group['name'], dry)):
        return
    b = Bench(folder, group, mode, dry, torch)
    try:
        with torch.inference_mode():
            b.measure_all()
    finally:
        b.close()


if __name__ == '__main__':
    main(*sys.argv[1:4], sys.argv[4:] == ['dry'])
