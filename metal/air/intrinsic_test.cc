#include "metal/air/intrinsic.h"

#include <gtest/gtest.h>

namespace bessemer::air {
namespace {

TEST(Intrinsic, NamesOfEveryFormAreTakenApart) {
  struct Case {
    const char* name;
    Operation operation;
    bool fast;
    bool threadgroup;
    unsigned types;
    char sign;      // of the first type
    unsigned lanes; // of the first type
    unsigned bits;  // of the first type
  };
  for (const Case& c : {
           Case{"air.exp.f32", Operation::Exp, false, false, 1, 0, 1, 32},
           Case{"air.fast_exp2.v2f16", Operation::Exp2, true, false, 1, 0, 2, 16},
           Case{"air.min.s.i32", Operation::Min, false, false, 1, 's', 1, 32},
           Case{"air.max.u.v4i16", Operation::Max, false, false, 1, 'u', 4, 16},
           Case{"air.simd_shuffle_and_fill_up.u.v2i32", Operation::SimdShuffleAndFillUp, false,
                false, 1, 'u', 2, 32},
           Case{"air.simd_any", Operation::SimdAny, false, false, 0, 0, 0, 0},
           Case{"air.wg.barrier", Operation::ThreadgroupBarrier, false, false, 0, 0, 0, 0},
           Case{"air.convert.f.v4f32.f.v4bf16", Operation::Convert, false, false, 2, 0, 4, 32},
           Case{"air.convert.u.i1.f.f32", Operation::Convert, false, false, 2, 'u', 1, 1},
           Case{"air.simdgroup_matrix_8x8_multiply_accumulate.v64f32.v64f16.v64f16.v64f32",
                Operation::MatrixMultiplyAccumulate, false, false, 4, 0, 64, 32},
           Case{"air.atomic.local.add.u.i32", Operation::AtomicAdd, false, true, 1, 'u', 1, 32},
           Case{"air.atomic.global.cmpxchg.weak.i32", Operation::AtomicCompareExchange, false,
                false, 1, 0, 1, 32},
           Case{"air.atomic.fence", Operation::AtomicFence, false, false, 0, 0, 0, 0},
           Case{"air.unpack.unorm4x8.srgb.v4f16", Operation::UnpackUnorm4x8Srgb, false, false, 1, 0,
                4, 16},
           Case{"air.get_simdgroup_size.i16", Operation::GetSimdgroupSize, false, false, 1, 0, 1,
                16},
           Case{"air.sample_texture_2d.v4f32", Operation::Texture, false, false, 0, 0, 0, 0},
       }) {
    auto intrinsic = parse_intrinsic(c.name);
    ASSERT_TRUE(intrinsic) << c.name;
    EXPECT_EQ(intrinsic->operation, c.operation) << c.name;
    EXPECT_EQ(intrinsic->fast, c.fast) << c.name;
    EXPECT_EQ(intrinsic->threadgroup, c.threadgroup) << c.name;
    ASSERT_EQ(intrinsic->types.size(), c.types) << c.name;
    if (c.types) {
      EXPECT_EQ(intrinsic->types[0].sign, c.sign) << c.name;
      EXPECT_EQ(intrinsic->types[0].lanes, c.lanes) << c.name;
      EXPECT_EQ(intrinsic->types[0].bits, c.bits) << c.name;
    }
  }
}

TEST(Intrinsic, PointersTellTheirAddressSpace) {
  auto load = parse_intrinsic("air.simdgroup_matrix_8x8_load.v64f16.p3f16");
  ASSERT_TRUE(load);
  EXPECT_EQ(load->operation, Operation::MatrixLoad);
  ASSERT_EQ(load->types.size(), 2u);
  EXPECT_EQ(load->types[0].address_space, -1);
  EXPECT_EQ(load->types[1].address_space, 3);
  EXPECT_EQ(load->types[1].bits, 16);
  EXPECT_EQ(load->types[1].format, OverloadType::Format::Float);
}

TEST(Intrinsic, BFloatIsNotHalf) {
  auto convert = parse_intrinsic("air.convert.f.bf16.f.f16");
  ASSERT_TRUE(convert);
  EXPECT_EQ(convert->types[0].format, OverloadType::Format::BFloat);
  EXPECT_EQ(convert->types[1].format, OverloadType::Format::Float);
}

TEST(Intrinsic, OtherNamesAreNone) {
  for (const char* name : {"llvm.fma.f32", "air.", "air", "air.nothing.f32", "air.exp.q32",
                           "air.exp.v", "air.exp.v999f32", "air.exp..f32", "exp.f32"})
    EXPECT_FALSE(parse_intrinsic(name)) << name;
}

TEST(Intrinsic, EveryOperationIsFoundByItsName) {
  for (unsigned i = 0; i < static_cast<unsigned>(Operation::Texture); ++i) {
    auto operation = static_cast<Operation>(i);
    auto parsed = parse_intrinsic("air." + operation_name(operation).str());
    ASSERT_TRUE(parsed) << operation_name(operation).str();
    EXPECT_EQ(parsed->operation, operation);
  }
}

} // namespace
} // namespace bessemer::air
