// Vulkan backend (lavapipe: the first CPU device found).
#include "suite.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vulkan/vulkan.h>

namespace {
void CK(VkResult result, std::source_location where = std::source_location::current()) {
  expect_zero("Vulkan", result, where);
}

struct Vulkan : Backend {
  VkInstance inst{};
  VkPhysicalDevice phys{};
  VkDevice dev{};
  VkQueue queue{};
  uint32_t family = 0, memtype = 0;
  VkCommandPool pool{};
  VkFence fence{};
  VkShaderModule mod{};
  VkDescriptorSetLayout dsl{};
  VkPipelineLayout pl{};
  VkPipeline pipe{};
  VkDescriptorPool dp{};
  VkDescriptorSet set{};
  VkCommandBuffer cmd{};
  std::vector<VkBuffer> buf;
  std::vector<VkDeviceMemory> mem;
  std::vector<void*> host;

  Vulkan() {
    VkApplicationInfo ai{VK_STRUCTURE_TYPE_APPLICATION_INFO};
    ai.apiVersion = VK_API_VERSION_1_1;
    VkInstanceCreateInfo ci{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    ci.pApplicationInfo = &ai;
    CK(vkCreateInstance(&ci, nullptr, &inst));
    uint32_t n = 0;
    vkEnumeratePhysicalDevices(inst, &n, nullptr);
    std::vector<VkPhysicalDevice> ds(n);
    vkEnumeratePhysicalDevices(inst, &n, ds.data());
    for (auto d : ds) {
      VkPhysicalDeviceProperties p;
      vkGetPhysicalDeviceProperties(d, &p);
      if (p.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU) {
        phys = d;
        break;
      }
    }
    if (!phys) {
      fprintf(stderr, "no CPU Vulkan device\n");
      exit(1);
    }
    float prio = 1;
    VkDeviceQueueCreateInfo qi{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
    qi.queueFamilyIndex = 0;
    qi.queueCount = 1;
    qi.pQueuePriorities = &prio;
    VkDeviceCreateInfo di{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
    di.queueCreateInfoCount = 1;
    di.pQueueCreateInfos = &qi;
    CK(vkCreateDevice(phys, &di, nullptr, &dev));
    vkGetDeviceQueue(dev, 0, 0, &queue);
    VkPhysicalDeviceMemoryProperties mp;
    vkGetPhysicalDeviceMemoryProperties(phys, &mp);
    for (uint32_t i = 0; i < mp.memoryTypeCount; ++i)
      if (mp.memoryTypes[i].propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) {
        memtype = i;
        break;
      }
    VkCommandPoolCreateInfo pi{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    pi.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    CK(vkCreateCommandPool(dev, &pi, nullptr, &pool));
    VkFenceCreateInfo fi{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    CK(vkCreateFence(dev, &fi, nullptr, &fence));
  }
  std::string name() override { return "lavapipe"; }

  void record(const Kernel& k, int repeat) {
    if (!cmd) {
      VkCommandBufferAllocateInfo ai{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
      ai.commandPool = pool;
      ai.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
      ai.commandBufferCount = 1;
      CK(vkAllocateCommandBuffers(dev, &ai, &cmd));
    }
    VkCommandBufferBeginInfo bi{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    CK(vkBeginCommandBuffer(cmd, &bi));
    vkCmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, pipe);
    vkCmdBindDescriptorSets(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, pl, 0, 1, &set, 0, nullptr);
    VkMemoryBarrier mb{VK_STRUCTURE_TYPE_MEMORY_BARRIER};
    mb.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
    mb.dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT;
    bool first = true;
    for (int r = 0; r < repeat; ++r)
      for (auto& l : k.launches) {
        if (!first)
          vkCmdPipelineBarrier(cmd, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                               VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &mb, 0, nullptr, 0,
                               nullptr);
        first = false;
        if (!l.params.empty())
          vkCmdPushConstants(cmd, pl, VK_SHADER_STAGE_COMPUTE_BIT, 0, 4 * l.params.size(),
                             l.params.data());
        vkCmdDispatch(cmd, l.groups[0], l.groups[1], l.groups[2]);
      }
    CK(vkEndCommandBuffer(cmd));
  }
  double prepare(const Kernel& k) override {
    std::ifstream f(std::string(BENCH_SPIRV) + "/" + k.name + ".spv", std::ios::binary);
    std::vector<char> code((std::istreambuf_iterator<char>(f)), {});
    if (code.empty()) {
      fprintf(stderr, "no SPIR-V for %s: build the bench_shaders target\n", k.name.c_str());
      exit(1);
    }
    double t = now();
    VkShaderModuleCreateInfo mi{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
    mi.codeSize = code.size();
    mi.pCode = (const uint32_t*)code.data();
    CK(vkCreateShaderModule(dev, &mi, nullptr, &mod));
    std::vector<VkDescriptorSetLayoutBinding> bs;
    for (uint32_t i = 0; i < k.bufs.size(); ++i)
      bs.push_back({i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr});
    VkDescriptorSetLayoutCreateInfo li{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
    li.bindingCount = bs.size();
    li.pBindings = bs.data();
    CK(vkCreateDescriptorSetLayout(dev, &li, nullptr, &dsl));
    VkPushConstantRange pr{VK_SHADER_STAGE_COMPUTE_BIT, 0, 64};
    VkPipelineLayoutCreateInfo pi{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    pi.setLayoutCount = 1;
    pi.pSetLayouts = &dsl;
    pi.pushConstantRangeCount = 1;
    pi.pPushConstantRanges = &pr;
    CK(vkCreatePipelineLayout(dev, &pi, nullptr, &pl));
    VkComputePipelineCreateInfo ci{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
    ci.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO};
    ci.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    ci.stage.module = mod;
    ci.stage.pName = "main";
    ci.layout = pl;
    CK(vkCreateComputePipelines(dev, VK_NULL_HANDLE, 1, &ci, nullptr, &pipe));
    t = now() - t;
    VkDescriptorPoolSize ps{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 8};
    VkDescriptorPoolCreateInfo dpi{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
    dpi.maxSets = 1;
    dpi.poolSizeCount = 1;
    dpi.pPoolSizes = &ps;
    CK(vkCreateDescriptorPool(dev, &dpi, nullptr, &dp));
    VkDescriptorSetAllocateInfo sa{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
    sa.descriptorPool = dp;
    sa.descriptorSetCount = 1;
    sa.pSetLayouts = &dsl;
    CK(vkAllocateDescriptorSets(dev, &sa, &set));
    for (uint32_t i = 0; i < k.bufs.size(); ++i) {
      VkBufferCreateInfo bi{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
      bi.size = k.bufs[i].bytes;
      bi.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
      VkBuffer b;
      CK(vkCreateBuffer(dev, &bi, nullptr, &b));
      VkMemoryRequirements mr;
      vkGetBufferMemoryRequirements(dev, b, &mr);
      VkMemoryAllocateInfo ma{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
      ma.allocationSize = mr.size;
      ma.memoryTypeIndex = memtype;
      VkDeviceMemory m;
      CK(vkAllocateMemory(dev, &ma, nullptr, &m));
      CK(vkBindBufferMemory(dev, b, m, 0));
      void* p;
      CK(vkMapMemory(dev, m, 0, VK_WHOLE_SIZE, 0, &p));
      buf.push_back(b);
      mem.push_back(m);
      host.push_back(p);
      VkDescriptorBufferInfo dbi{b, 0, VK_WHOLE_SIZE};
      VkWriteDescriptorSet w{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
      w.dstSet = set;
      w.dstBinding = i;
      w.descriptorCount = 1;
      w.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
      w.pBufferInfo = &dbi;
      vkUpdateDescriptorSets(dev, 1, &w, 0, nullptr);
    }
    reset(k, true);
    record(k, 1);
    return t;
  }
  void reset(const Kernel& k, bool all) override { restore(k, host, all); }
  void submit() {
    VkSubmitInfo si{VK_STRUCTURE_TYPE_SUBMIT_INFO};
    si.commandBufferCount = 1;
    si.pCommandBuffers = &cmd;
    CK(vkQueueSubmit(queue, 1, &si, fence));
    CK(vkWaitForFences(dev, 1, &fence, VK_TRUE, ~0ull));
    CK(vkResetFences(dev, 1, &fence));
  }
  void run(const Kernel&) override { submit(); }
  void read(const Kernel& k, int i, void* dst) override { memcpy(dst, host[i], k.bufs[i].bytes); }
  void release() override {
    vkFreeCommandBuffers(dev, pool, 1, &cmd);
    cmd = nullptr;
    for (auto b : buf)
      vkDestroyBuffer(dev, b, nullptr);
    for (auto m : mem)
      vkFreeMemory(dev, m, nullptr);
    buf.clear();
    mem.clear();
    host.clear();
    vkDestroyDescriptorPool(dev, dp, nullptr);
    vkDestroyPipeline(dev, pipe, nullptr);
    vkDestroyPipelineLayout(dev, pl, nullptr);
    vkDestroyDescriptorSetLayout(dev, dsl, nullptr);
    vkDestroyShaderModule(dev, mod, nullptr);
  }
  double empty_batched(int n) override {
    Kernel k = make_kernel("empty");
    double t = now();
    record(k, n); // recording is part of the cost, as enqueueing is
    submit();
    return (now() - t) / n;
  }
  double empty_each(int n) override {
    Kernel k = make_kernel("empty");
    record(k, 1);
    double t = now();
    for (int i = 0; i < n; ++i)
      submit();
    return (now() - t) / n;
  }
};
} // namespace
std::unique_ptr<Backend> make_vulkan() { return std::make_unique<Vulkan>(); }
