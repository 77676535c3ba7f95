// Models changed as messages, through protobuf's reflection.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace cameo::fuzz {

/// The model with one to four changes: a field set, dropped, copied from elsewhere in the model, swapped with its
/// neighbour or named like another. Empty where the bytes are no model, or the result is larger than `most`.
std::string mutated_model(std::string_view bytes, unsigned seed, size_t most);

/// The first model with a message of the second one's in it. Empty where that cannot be.
std::string joined_models(std::string_view a, std::string_view b, unsigned seed, size_t most);

}  // namespace cameo::fuzz
