// A library that is loaded late and calls back nothing.
int plugin_value;

__attribute__((noinline)) int plugin_work(int n) {
    __asm__ volatile("");
    return plugin_value += n;
}

__attribute__((constructor)) static void plugin_loaded(void) { plugin_work(100); }
