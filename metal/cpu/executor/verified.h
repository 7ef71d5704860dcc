// A FlatBuffer that has been through the verifier, with the bytes that hold it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flatbuffers/flatbuffers.h"
#include "metal/cpu/executor/error.h"

namespace bessemer::metal::cpu {

// Copying shares the bytes, so pointers into the tables stay good as long as any copy lives.
template <typename Root>
class Verified {
public:
  // Takes bytes from an untrusted place. `what` names it in the error.
  static Expected<Verified> create(std::vector<uint8_t> bytes, const char* identifier,
                                   std::string_view what) {
    flatbuffers::Verifier verifier(bytes.data(), bytes.size(), /*max_depth=*/256,
                                   /*max_tables=*/10'000'000);
    if (bytes.size() < 8 || !verifier.VerifyBuffer<Root>(identifier))
      return failure(std::string(what) + ": not a valid " + identifier + " table (" +
                     std::to_string(bytes.size()) + " bytes)");
    Verified result;
    result.bytes_ = std::make_shared<const std::vector<uint8_t>>(std::move(bytes));
    result.root_ = flatbuffers::GetRoot<Root>(result.bytes_->data());
    return result;
  }

  const Root* operator->() const { return root_; }
  const Root& operator*() const { return *root_; }
  const Root* get() const { return root_; }
  std::span<const uint8_t> bytes() const { return *bytes_; }

private:
  std::shared_ptr<const std::vector<uint8_t>> bytes_;
  const Root* root_ = nullptr;
};

} // namespace bessemer::metal::cpu
