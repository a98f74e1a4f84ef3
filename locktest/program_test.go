package locktest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"redlocksim/locktest"
)

const redsync, naive = "../locks/redsync", "../locks/naive"

// few is fixed for programs, whose runs take longer.
func few(t *testing.T, seed, checks string) {
	t.Helper()
	fixed(t, seed)
	configure(t, map[string]string{"rapid.checks": checks, "rapid.shrinktime": "1s"})
}

func redsyncWith(restartDelay time.Duration) locktest.Setup {
	return locktest.Setup{Program: redsync, Settings: "lock: {ttl: 2s}", Assume: locktest.Assumptions{ClockRate: "0.1%", RestartDelay: restartDelay}}
}

// kept is the file of a failure.
func kept(t *testing.T, text string) string {
	t.Helper()
	_, file, ok := strings.Cut(text, "the file to keep:\n\n")
	file, _, _ = strings.Cut(file, "\n\n")
	if !ok {
		t.Fatalf("there is no file in\n%s", text)
	}
	return file
}

// contain says what a text does not say.
func contain(t *testing.T, text string, all ...string) {
	t.Helper()
	for _, want := range all {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, text)
		}
	}
}

// redsync, as it is, holds where nodes that lost their memory stay away for a TTL.
func TestALibraryAsItIs(t *testing.T) {
	few(t, "1", "5")
	if r := check(redsyncWith(2 * time.Second)); r.failed || !strings.Contains(r.log.String(), "passed 5 tests") {
		t.Errorf("%s", &r.log)
	}
}

// It does not where they come back earlier, and the failure is told as that of any lock: once, with what repeats it.
func TestALibraryThatIsBrokenByRestarts(t *testing.T) {
	few(t, "3", "100")
	text := check(redsyncWith(time.Second)).log.String()
	contain(t, text, "two holders (lease-overlap) within the assumptions", "two holders (lease-overlap) of redsync v4.", "restarts with an empty memory, 1s after it stopped",
		"budget     kept", "overlap from ", "GOOS=wasip1 GOARCH=wasm go build -C ../locks/redsync -o redsync.wasm . && redlocksim run FILE --seed ",
		" --lock ../locks/redsync/redsync.wasm, or locktest.MutualExclusion(t, locktest.ParseProgram(t, file, ", `, "../locks/redsync"))`, "-rapid.seed=")
	locktest.Breaks(t, locktest.ParseProgram(t, kept(t, text), seedIn(t, text), redsync))
}

// The lock that many write first deletes the key of another when it releases late, and the next client finds no key. redsync,
// which compares before it deletes, does not in the same plan.
func TestANaiveProgram(t *testing.T) {
	late := plan("lock: {ttl: 2s}\nnodes: {names: [A]}", "pause: 3s", "{at: 0s, client: client-1, do: [try-lock, hold: 1s, unlock]}",
		"{after: {client: client-1, event: release-called}, fault: {pause: {process: client-1, for: 3s}}}",
		"{at: 3s, client: client-2, do: [try-lock, hold: 1900ms]}", "{at: 4500ms, client: client-1, do: [try-lock]}")
	locktest.Breaks(t, locktest.ParseProgram(t, late, 0, naive))
	locktest.MutualExclusion(t, locktest.ParseProgram(t, late, 0, redsync))
}

func TestWhatIsWrongWithAProgram(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	for _, c := range []struct {
		setup locktest.Setup
		want  string
	}{
		{locktest.Setup{Program: " "}, "there is nothing but spaces"},
		{locktest.Setup{Program: filepath.Join(dir, "missing.wasm")}, "missing.wasm: no such file"},
		{locktest.Setup{Program: write("lock.py", "x")}, "is neither a .wasm file nor the directory of a Go program"},
		{locktest.Setup{Program: write("text.wasm", "x")}, "text.wasm: not a WebAssembly program that can run here"},
		{locktest.Setup{Program: dir}, "cannot be built for WebAssembly"},
		{locktest.Setup{Program: redsync + " --quorum 3"}, "the program of client-1, at 0.000000s: it has exited"},
		{locktest.Setup{Program: naive}, `the lock uses one node alone, and the settings have 5: give it one, by "nodes: {names: [A]}"`},
		{locktest.Setup{Program: redsync, Settings: "lock: {quorum: 4}"}, "it sets quorum, which the program does not read"},
		{locktest.Setup{Program: redsync, Settings: "lock: {preset: redlock-rb}"}, "it is about preset redlock-rb"},
		{locktest.Setup{Program: redsync, Lock: own(3).Lock}, "the setup has a Lock and a Program: only one of them can be tested"},
	} {
		r := record(func(t rapid.TB) { locktest.Experiments(t, c.setup) })
		if !r.failed || !strings.Contains(r.log.String(), c.want) {
			t.Errorf("%q: failed %v, does not say %q: %s", c.setup.Program, r.failed, c.want, &r.log)
		}
	}
	// What the program cannot do is no experiment with it.
	file := plan("lock: {ttl: 2s}\nnodes: {names: [A]}", "", "{at: 0s, client: client-1, do: [try-lock, extend: 1s, unlock]}")
	if r := record(func(t rapid.TB) { locktest.ParseProgram(t, file, 0, naive) }); !r.failed || !strings.Contains(r.log.String(), "not tested: experiment does not apply to the lock: it extends leases") {
		t.Errorf("failed %v: %s", r.failed, &r.log)
	}
}
