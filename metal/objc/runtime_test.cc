// The runtime from C++: classes defined by tables, messages, references.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "metal/foundation/array.h"
#include "metal/foundation/string.h"
#include "metal/objc/class.h"
#include "metal/objc/message.h"

struct Triple {
  int64_t a, b, c;
};
template <>
inline constexpr std::string_view objc::encoding<Triple> = "{Triple=qqq}";

class Animal : public objc::Object {
public:
  OBJC_CLASS(Animal, "TestAnimal");

  static inline int alive = 0;
  explicit Animal(int legs) : legs_(legs) { ++alive; }
  Animal() : Animal(4) {}
  ~Animal() { --alive; }

  int legs() const { return legs_; }
  void set_legs(int legs) { legs_ = legs; }
  double mixed(int8_t a, float b, double c, Triple t) const { return a + b + c + double(t.c); }
  Triple triple(int64_t x) const { return {x, x + 1, x + 2}; }
  ns::String* sound() const { return ns::literal<"silence">(); }

private:
  int legs_;
  objc::Ref<ns::String> name_ = ns::string("a name that is owned");
};

class Bird : public Animal {
public:
  OBJC_CLASS(Bird, "TestBird");
  explicit Bird(int wings) : Animal(wings) {}
  ns::String* sound() const { return ns::literal<"song">(); }
};

namespace {
Animal* make_with_legs(objc::Class*, int legs) { return objc::make<Animal>(legs).autorelease(); }
} // namespace

OBJC_DEFINE_CLASS(Animal, "TestAnimal", objc::Object,
                  .methods =
                      {
                          objc::method<&Animal::legs>("legs"),
                          objc::method<&Animal::set_legs>("setLegs:"),
                          objc::method<&Animal::mixed>("mixed:b:c:t:"),
                          objc::method<&Animal::triple>("triple:"),
                          objc::method<&Animal::sound>("sound"),
                      },
                  .class_methods = {objc::method<&make_with_legs>("animalWithLegs:")},
                  .protocols = {"TestLiving"});
OBJC_DEFINE_CLASS(Bird, "TestBird", Animal, .methods = {objc::method<&Bird::sound>("sound")});

namespace objc {
extern "C" {
Class* objc_lookUpClass(const char* name);
Protocol* objc_getProtocol(const char* name);
bool class_conformsToProtocol(Class* cls, Protocol* protocol);
bool class_addMethod(Class* cls, Selector* selector, Imp imp, const char* types);
Method* class_getInstanceMethod(Class* cls, const Selector* selector);
const char* method_getTypeEncoding(const Method* method);
unsigned long object_getRetainCount_np(Object* object);
}

namespace {

TEST(Classes, AreFoundByNameWithTheirProtocolsBeforeAnyMessage) {
  EXPECT_EQ(objc_lookUpClass("TestBird"), &Bird::class_object);
  EXPECT_EQ(objc_lookUpClass("TestNoSuchClass"), nullptr);
  Protocol* living = objc_getProtocol("TestLiving");
  ASSERT_NE(living, nullptr);
  EXPECT_TRUE(class_conformsToProtocol(&Animal::class_object, living));
  EXPECT_TRUE((send<bool, "conformsToProtocol:">(make<Bird>(2).get(), living)));
}

TEST(Messages, CarryArgumentsAndResultsOfEveryKind) {
  auto animal = make<Animal>(6);
  Object* object = animal.get();
  EXPECT_EQ((send<int, "legs">(object)), 6);
  send<void, "setLegs:">(object, 8);
  EXPECT_EQ(animal->legs(), 8);
  double mixed = send<double, "mixed:b:c:t:">(object, int8_t{1}, 2.5f, 4.25, Triple{0, 0, 100});
  EXPECT_EQ(mixed, 107.75);
  Triple triple = send<Triple, "triple:">(object, int64_t{1} << 40);
  EXPECT_EQ(triple.a, int64_t{1} << 40);
  EXPECT_EQ(triple.c, (int64_t{1} << 40) + 2);
}

TEST(Messages, ToNullGiveZero) {
  EXPECT_EQ((send<int, "legs">(nullptr)), 0);
  EXPECT_EQ((send<double, "mixed:b:c:t:">(nullptr, int8_t{1}, 2.f, 3., Triple{})), 0);
  // As a C++ client calls: nothing tests for null before.
  auto raw = reinterpret_cast<long (*)(void*, Selector*)>(&objc_msgSend);
  EXPECT_EQ(raw(nullptr, selector<"legs">()), 0);
}

TEST(Messages, GoToTheNearestClass) {
  auto bird = make<Bird>(2);
  EXPECT_EQ(ns::utf8(send<ns::String*, "sound">(bird.get())), "song");
  EXPECT_EQ(ns::utf8(send<ns::String*, "sound">(make<Animal>(1).get())), "silence");
  EXPECT_EQ((send<int, "legs">(bird.get())), 2);
}

TEST(MessagesDeathTest, UnknownSelectorEndsWithClassAndSelector) {
  auto animal = make<Animal>(4);
  EXPECT_DEATH((send<void, "fly:">(animal.get(), 1)),
               "-\\[TestAnimal fly:\\]: unrecognized selector sent to instance 0x");
  EXPECT_DEATH((send<void, "hatch">(&Animal::class_object)),
               "\\+\\[TestAnimal hatch\\]: unrecognized selector sent to class 0x");
}

TEST(MessagesDeathTest, AllocOfAClassThatOnlyOthersMakeSaysSo) {
  EXPECT_DEATH((send<Object*, "alloc">(&Bird::class_object)),
               "\\+\\[TestBird alloc\\]: objects of this class are made by other objects only");
}

TEST(Messages, WorkWithMoreSelectorsThanADispatchTableHas) {
  for (int i = 0; i < 33000; ++i)
    sel_registerName(("many" + std::to_string(i)).c_str());
  Selector* late = sel_registerName("aLateSelector");
  ASSERT_GE(late->index, 32768u);
  class_addMethod(&Animal::class_object, late,
                  reinterpret_cast<Imp>(+[](Animal* self, Selector*) { return self->legs() + 1; }),
                  "i@:");
  auto animal = make<Animal>(4);
  auto call = reinterpret_cast<int (*)(Object*, Selector*)>(&objc_msgSend);
  EXPECT_EQ(call(animal.get(), late), 5);
  EXPECT_EQ(call(animal.get(), late), 5);
  EXPECT_FALSE(responds_to(animal.get(), sel_registerName("anotherLateSelector")));
}

TEST(Messages, ReplacedMethodIsSeenByEveryClassBelow) {
  auto bird = make<Bird>(2);
  EXPECT_EQ((send<int, "legs">(bird.get())), 2); // cached
  class_addMethod(&Bird::class_object, selector<"legs">(),
                  reinterpret_cast<Imp>(+[](Bird*, Selector*) { return 77; }), "i@:");
  EXPECT_EQ((send<int, "legs">(bird.get())), 77);
}

TEST(References, DestroyAtZeroAndNotBefore) {
  ASSERT_EQ(Animal::alive, 0);
  {
    Ref<Animal> first = make<Animal>(4);
    Ref<Object> second = first;
    EXPECT_EQ(object_getRetainCount_np(first.get()), 2u);
    first = nullptr;
    EXPECT_EQ(Animal::alive, 1);
    Object* taken = second.take();
    EXPECT_FALSE(second);
    objc_release(taken);
  }
  EXPECT_EQ(Animal::alive, 0);
}

TEST(References, AllocConstructsAndReleaseDestroys) {
  auto* animal = send<Animal*, "init">(send<Object*, "alloc">(&Animal::class_object));
  EXPECT_EQ(animal->legs(), 4);
  EXPECT_EQ(Animal::alive, 1);
  send<void, "release">(animal);
  EXPECT_EQ(Animal::alive, 0);
}

TEST(Pools, ReleaseWhatCameAfterThemOnly) {
  AutoreleaseScope outer;
  send<Animal*, "animalWithLegs:">(&Animal::class_object, 1);
  {
    AutoreleaseScope inner;
    send<Animal*, "animalWithLegs:">(&Animal::class_object, 2);
    EXPECT_EQ(Animal::alive, 2);
  }
  EXPECT_EQ(Animal::alive, 1);
}

TEST(Pools, OfAThreadEndWithIt) {
  std::thread([] { make<Animal>(4).autorelease(); }).join();
  EXPECT_EQ(Animal::alive, 0);
}

TEST(Casts, FollowTheClassTree) {
  Ref<Object> bird = make<Bird>(2), animal = make<Animal>(4);
  EXPECT_EQ(cast<Animal>(bird.get()), bird.get());
  EXPECT_EQ(cast<Bird>(animal.get()), nullptr);
  EXPECT_EQ(cast<ns::Array>(bird.get()), nullptr);
  EXPECT_EQ(cast<Bird>(nullptr), nullptr);
}

TEST(Encodings, AreThoseOfTheTypes) {
  auto types = [](const char* name) {
    return std::string(method_getTypeEncoding(
        class_getInstanceMethod(&Animal::class_object, sel_registerName(name))));
  };
  EXPECT_EQ(types("setLegs:"), "v@:i");
  EXPECT_EQ(types("mixed:b:c:t:"), "d@:cfd{Triple=qqq}");
  EXPECT_EQ(types("sound"), "@@:");
}

TEST(Literals, KeepTheirTextAndAreNeverReleased) {
  ns::String* text = ns::literal<"a literal">();
  for (int i = 0; i < 10; ++i)
    objc_release(reinterpret_cast<Object*>(text));
  EXPECT_EQ(ns::utf8(text), "a literal");
  EXPECT_EQ((send<unsigned long, "length">(text)), 9u);
}

TEST(Threads, ShareObjectsAndCaches) {
  auto shared = make<Animal>(4);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      AutoreleaseScope scope;
      for (int i = 0; i < 20000; ++i) {
        Ref<Animal> mine = shared;
        ASSERT_GT((send<int, "legs">(mine.get())), 0);
        objc_autorelease(objc_retain(mine.get()));
        if (i % 512 == t)
          sel_registerName(("thread" + std::to_string(i)).c_str());
      }
    });
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(object_getRetainCount_np(shared.get()), 1u);
}

} // namespace
} // namespace objc
