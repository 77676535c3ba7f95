// Reduce-overhead: a segment is a stretch of rows that one call of the driver launches as a graph. Its rows only launch
// kernels of the device and copy within the context's own memory, and are entered at the first one alone; a graph's
// nodes form a chain in the order of the rows. Rows between segments are launched one by one, as all are where a run
// is observed. A graph's parameters hold addresses and sizes: where bases have moved since they were set, or the run
// has sizes of its own, those of the rows that read them are set again before the launch. A row that has nothing to do
// at the run's sizes is switched off.
#include "runtime/cuda/cuda.h"
#include "runtime/libc.h"

namespace rt::cuda {
namespace {

bool stays(const Ref& ref) { return ref.base == kWeights || ref.base == kArena; }

bool may_join(const Image& image, const Schedule& schedule, const Row& row) {
  const Ref* refs = schedule.refs + row.refs;
  if (row.kind == RowKind::Kernel) return !image.kernels || !image.kernels[row.target];
  return row.kind == RowKind::Copy && (row.b || number_in(refs[2])) && stays(refs[0]) && stays(refs[1]);
}

bool jumps(const Row& row) {
  return row.kind == RowKind::Jump || row.kind == RowKind::JumpIfFalse || row.kind == RowKind::LoopBegin;
}

template <class F>
bool any_row(const Schedule& schedule, F is) {
  for (uint32_t i = 0; i < schedule.row_count; ++i)
    if (is(schedule.rows[i])) return true;
  return false;
}

// From elsewhere than the row before it.
bool is_entered(const Schedule& schedule, uint32_t index) {
  return any_row(schedule, [&](const Row& r) { return jumps(r) && r.target == index; });
}

// body(begin, end) for each; a single row is better launched as it is.
template <class F>
void for_each_segment(const Image& image, const Schedule& schedule, F body) {
  if (image.device->mode != Mode::ReduceOverhead) return;
  const bool straight = !any_row(schedule, jumps);
  for (uint32_t begin = 0, end = 0; begin < schedule.row_count; begin = end) {
    for (end = begin; end < schedule.row_count && may_join(image, schedule, schedule.rows[end]); ++end)
      if (end > begin && !straight && is_entered(schedule, end)) break;
    if (end - begin > 1) body(begin, end);
    if (end == begin) ++end;
  }
}

// What a graph's parameters are made of: any address will do for those that are set again before the first launch.
void set_first_bases(cameo_context* owner, const Context& c) {
  const Program& program = *owner->model->program;
  for (uint32_t i = 0; i < program.input_count; ++i) owner->run.bases[input_base(i)] = c.inputs[i].device;
  for (uint32_t i = 0; i < program.output_count; ++i) owner->run.bases[output_base(program, i)] = owner->owned[i];
}

void add_kernel(Execution& run, const Row& row, const Segment& s, void* const* after, void** node, Calls& calls) {
  const Launch launch(run, row);
  calls(context_of(run).model->driver.cuGraphAddKernelNode, node, s.graph, after, size_t{after ? 1u : 0u},
        &launch.node);
}

// No copy is of nothing: a row that has nothing to copy is switched off.
CopyNode copy_of(const Execution& run, const Row& row) {
  const Ref* refs = run.schedule->refs + row.refs;
  const uint64_t bytes = bytes_of(run, row);
  CopyNode copy;
  libc::memset(&copy, 0, sizeof copy);
  copy.to.memory_type = copy.from.memory_type = kDeviceMemory;
  copy.to.device = static_cast<char*>(run.bases[refs[0].base]) + refs[0].offset;
  copy.from.device = static_cast<char*>(run.bases[refs[1].base]) + refs[1].offset;
  copy.width = bytes ? bytes : 1;
  copy.height = copy.depth = 1;
  return copy;
}

void add_copy(Execution& run, const Row& row, const Segment& s, void* const* after, void** node, Calls& calls) {
  const Context& c = context_of(run);
  const CopyNode copy = copy_of(run, row);
  calls(c.model->driver.cuGraphAddMemcpyNode, node, s.graph, after, size_t{after ? 1u : 0u}, &copy, c.model->primary);
}

void build(Execution& run, Segment& s, void** nodes, Calls& calls) {
  const Context& c = context_of(run);
  const Driver& driver = c.model->driver;
  calls(driver.cuGraphCreate, &s.graph, 0u);
  for (uint32_t i = s.begin; i < s.end; ++i) {
    const Row& row = run.schedule->rows[i];
    void* const* after = i == s.begin ? nullptr : &nodes[i - 1];
    (row.kind == RowKind::Kernel ? add_kernel : add_copy)(run, row, s, after, &nodes[i], calls);
  }
  calls(driver.cuGraphInstantiateWithFlags, &s.executable, s.graph, uint64_t{0});
  calls(driver.cuGraphUpload, s.executable, c.own_stream);
}

bool is_moved(const Execution& run, const Segment& s, uint32_t base) { return s.bases[base] != run.bases[base]; }

// The operands of a kernel; a copy's never move.
uint32_t operands_of(const Execution& run, const Row& row) {
  return row.kind == RowKind::Kernel ? context_of(run).entries[row.target].operands : 0;
}

bool is_other(const Execution& run, const Segment& s, const Row& row) {
  const Ref* refs = run.schedule->refs + row.refs;
  const bool resized = s.fits != run.fits;
  const uint32_t sizes_base = run.schedule->sizes_base;
  if (resized && row.b) return true;
  for (uint32_t i = 0; i < operands_of(run, row); ++i)
    if (is_moved(run, s, refs[i].base) || (resized && sizes_base && refs[i].base == sizes_base)) return true;
  return false;
}

void set_kernel(Execution& run, const Segment& s, const Row& row, void* node) {
  const Launch launch(run, row);
  queue(run, context_of(run).model->driver.cuGraphExecKernelNodeSetParams, s.executable, node, &launch.node);
}

void set_copy(Execution& run, const Segment& s, const Row& row, void* node) {
  const CopyNode copy = copy_of(run, row);
  const Model& model = *context_of(run).model;
  queue(run, model.driver.cuGraphExecMemcpyNodeSetParams, s.executable, node, &copy, model.primary);
}

void follow(Execution& run, Segment& s) {
  const Context& c = context_of(run);
  const uint64_t bytes = run.schedule->base_count * sizeof(void*);
  if (s.fits == run.fits && !libc::memcmp(s.bases, run.bases, bytes)) return;
  for (uint32_t i = s.begin; i < s.end; ++i) {
    const Row& row = run.schedule->rows[i];
    if (!is_other(run, s, row)) continue;
    if (row.b)
      queue(run, c.model->driver.cuGraphNodeSetEnabled, s.executable, c.graphs->nodes[i],
            uint32_t{run.sizes[row.b - 1] != 0});
    (row.kind == RowKind::Kernel ? set_kernel : set_copy)(run, s, row, c.graphs->nodes[i]);
  }
  libc::memcpy(s.bases, run.bases, bytes);
  s.fits = run.fits;
  if (c.failed_call) libc::memset(s.bases, 0xff, bytes), s.fits = ~uint64_t{0};  // nobody knows: all are set again
}

void build_plan(cameo_context* owner, PlanGraphs& graphs, Calls& calls) {
  const Execution& run = owner->run;
  Segment* s = graphs.segments;
  for_each_segment(*owner->model->image, *run.schedule, [&](uint32_t begin, uint32_t end) {
    s->begin = begin;
    s->end = end;
    build(owner->run, *s, graphs.nodes, calls);
    libc::memcpy(s->bases, run.bases, run.schedule->base_count * sizeof(void*));
    ++s;
  });
}

}  // namespace

Graphs graphs_of(const Image& image, const Schedule& schedule) {
  Graphs graphs = {};
  for_each_segment(image, schedule, [&](uint32_t begin, uint32_t end) { ++graphs.count, graphs.steps += end - begin; });
  for (uint32_t i = 0; i < schedule.row_count; ++i)
    graphs.others += schedule.rows[i].kind == RowKind::Kernel || schedule.rows[i].kind == RowKind::Copy;
  graphs.others -= graphs.steps;
  return graphs;
}

void open_graphs(cameo_context* owner, Calls& calls) {
  Context& c = context_of(owner->run);
  for (uint32_t p = 0; p < plan_count(*owner->model->program); ++p) {
    if (!c.plans[p].count) continue;
    use_plan(owner, p);
    set_first_bases(owner, c);
    build_plan(owner, c.plans[p], calls);
  }
  use_plan(owner, 0);
}

void close_graphs(const Context& c, uint32_t plans) {
  const Driver& driver = c.model->driver;
  for (const PlanGraphs* p = c.plans; p < c.plans + plans; ++p)
    for (const Segment* s = p->segments; s < p->segments + p->count; ++s) {
      if (s->executable) driver.cuGraphExecDestroy.call(s->executable);
      if (s->graph) driver.cuGraphDestroy.call(s->graph);
    }
}

uint32_t launch_segment(Execution& run, uint32_t row) {
  const PlanGraphs& graphs = *context_of(run).graphs;
  uint32_t low = 0, high = graphs.count;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (graphs.segments[middle].begin < row)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == graphs.count || graphs.segments[low].begin != row) return row;
  Segment& s = graphs.segments[low];
  follow(run, s);
  queue(run, context_of(run).model->driver.cuGraphLaunch, s.executable, context_of(run).stream);
  return s.end;
}

}  // namespace rt::cuda
