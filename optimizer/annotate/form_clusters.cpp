// form_clusters: see clusters.h.
#include "optimizer/annotate/clusters.h"

namespace cameo {

std::vector<Cluster> form_clusters(const Graph& g) {
  std::vector<Cluster> clusters;
  for (uint32_t i = 0; i < g.nodes().size(); ++i) clusters.push_back({{NodeId{i}}, g.nodes()[i].outputs, "alone"});
  for (Cluster& c : clusters) std::erase_if(c.outputs, [](ValueId v) { return !v; });
  return clusters;
}

}  // namespace cameo
