// Reduce-overhead: a segment is a stretch of rows that one call of the driver launches as a graph. Its rows only launch
// kernels of the device and copy within the context's own memory, and are entered at the first one alone; a graph's
// nodes form a chain in the order of the rows. Rows between segments are launched one by one, as all are where a run
// is observed. A graph's parameters hold addresses: where bases have moved since they were set, those of the kernels
// that read them are set again before the launch. Where kernels take sizes that only a run knows there is no graph.
#include "runtime/cuda/cuda.h"
#include "runtime/libc.h"

namespace rt::cuda {
namespace {

bool stays(const Ref& ref) { return ref.base == kWeights || ref.base == kArena; }

bool may_join(const Image& image, const Row& row) {
  const Ref* refs = image.schedule->refs + row.refs;
  if (row.kind == RowKind::Kernel) return !image.kernels || !image.kernels[row.kernel];
  return row.kind == RowKind::Copy && row.bytes && stays(refs[0]) && stays(refs[1]);
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
  return any_row(schedule, [&](const Row& r) { return jumps(r) && static_cast<uint32_t>(r.jump) == index; });
}

// body(begin, end) for each; a single row is better launched as it is.
template <class F>
void for_each_segment(const Image& image, F body) {
  const Schedule& schedule = *image.schedule;
  if (image.device->mode != Mode::ReduceOverhead || schedule.sizes_base) return;
  const bool straight = !any_row(schedule, jumps);
  for (uint32_t begin = 0, end = 0; begin < schedule.row_count; begin = end) {
    for (end = begin; end < schedule.row_count && may_join(image, schedule.rows[end]); ++end)
      if (end > begin && !straight && is_entered(schedule, end)) break;
    if (end - begin > 1) body(begin, end);
    if (end == begin) ++end;
  }
}

// What a graph's parameters are made of: any address will do for those that are set again before the first launch.
void set_first_bases(cameo_context* owner, const Context& c) {
  const Program& program = *owner->model->program;
  for (uint32_t i = 0; i < program.input_count; ++i) owner->run.bases[kFirstIo + i] = c.device + c.inputs[i];
  for (uint32_t i = 0; i < program.output_count; ++i)
    owner->run.bases[kFirstIo + program.input_count + i] = owner->owned[i];
}

void add_kernel(Execution& run, const Row& row, const Segment& s, void* const* after, void** node, Calls& calls) {
  const Launch launch(run, row);
  calls(context_of(run).model->driver.cuGraphAddKernelNode, node, s.graph, after, size_t{after ? 1u : 0u},
        &launch.node);
}

void add_copy(Execution& run, const Row& row, const Segment& s, void* const* after, void** node, Calls& calls) {
  const Context& c = context_of(run);
  const Ref* refs = run.schedule->refs + row.refs;
  CopyNode copy;
  libc::memset(&copy, 0, sizeof copy);
  copy.to.memory_type = copy.from.memory_type = kDeviceMemory;
  copy.to.device = static_cast<char*>(run.bases[refs[0].base]) + refs[0].offset;
  copy.from.device = static_cast<char*>(run.bases[refs[1].base]) + refs[1].offset;
  copy.width = row.bytes;
  copy.height = copy.depth = 1;
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

bool reads_moved_base(const Execution& run, const Segment& s, const Row& row) {
  const Ref* refs = run.schedule->refs + row.refs;
  for (uint32_t i = 0; i < context_of(run).entries[row.kernel].operands; ++i)
    if (s.bases[refs[i].base] != run.bases[refs[i].base]) return true;
  return false;
}

void follow_bases(Execution& run, Segment& s) {
  const Context& c = context_of(run);
  const uint64_t bytes = run.schedule->base_count * sizeof(void*);
  if (!libc::memcmp(s.bases, run.bases, bytes)) return;
  for (uint32_t i = s.begin; i < s.end; ++i) {
    const Row& row = run.schedule->rows[i];
    if (row.kind != RowKind::Kernel || !reads_moved_base(run, s, row)) continue;
    const Launch launch(run, row);
    queue(run, c.model->driver.cuGraphExecKernelNodeSetParams, s.executable, c.nodes[i], &launch.node);
  }
  libc::memcpy(s.bases, run.bases, bytes);
  if (c.failed_call) libc::memset(s.bases, 0xff, bytes);  // nobody knows: all are set again
}

}  // namespace

Graphs graphs_of(const Image& image) {
  Graphs graphs = {};
  for_each_segment(image, [&](uint32_t begin, uint32_t end) { ++graphs.count, graphs.steps += end - begin; });
  for (uint32_t i = 0; i < image.schedule->row_count; ++i)
    graphs.others += image.schedule->rows[i].kind == RowKind::Kernel || image.schedule->rows[i].kind == RowKind::Copy;
  graphs.others -= graphs.steps;
  return graphs;
}

void open_graphs(cameo_context* owner, Calls& calls) {
  Context& c = context_of(owner->run);
  if (c.segment_count) set_first_bases(owner, c);
  Segment* s = c.segments;
  for_each_segment(*owner->model->image, [&](uint32_t begin, uint32_t end) {
    s->begin = begin;
    s->end = end;
    build(owner->run, *s, c.nodes, calls);
    libc::memcpy(s->bases, owner->run.bases, owner->run.schedule->base_count * sizeof(void*));
    ++s;
  });
}

void close_graphs(const Context& c) {
  const Driver& driver = c.model->driver;
  for (const Segment* s = c.segments; s < c.segments + c.segment_count; ++s) {
    if (s->executable) driver.cuGraphExecDestroy.call(s->executable);
    if (s->graph) driver.cuGraphDestroy.call(s->graph);
  }
}

uint32_t launch_segment(Execution& run, uint32_t row) {
  const Context& c = context_of(run);
  uint32_t low = 0, high = c.segment_count;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (c.segments[middle].begin < row)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == c.segment_count || c.segments[low].begin != row) return row;
  follow_bases(run, c.segments[low]);
  queue(run, c.model->driver.cuGraphLaunch, c.segments[low].executable, c.stream);
  return c.segments[low].end;
}

}  // namespace rt::cuda
