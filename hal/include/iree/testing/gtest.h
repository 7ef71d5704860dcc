// GoogleTest and GoogleMock.

#ifndef IREE_TESTING_GTEST_H_
#define IREE_TESTING_GTEST_H_

#include <gmock/gmock.h> // IWYU pragma: export
#include <gtest/gtest.h> // IWYU pragma: export

#endif // IREE_TESTING_GTEST_H_
