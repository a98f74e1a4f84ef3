package faults

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/redlock/driver"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

// TestVocabularyIsComplete: every type of the package that is a Fault is in it, once, under the name that follows from its own.
func TestVocabularyIsComplete(t *testing.T) {
	listed := map[string]string{}
	for _, k := range Vocabulary() {
		name := reflect.TypeOf(k.New()).Elem().Name()
		if listed[name] != "" || k.New() == k.New() {
			t.Errorf("%s is listed twice, or not new every time", name)
		}
		listed[name] = k.Name
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^func \(\w* ?\*(\w+)\) Inject\(`).FindAllSubmatch(source, -1) {
			found++
			name := string(m[1])
			word := strings.ToLower(name[:1] + regexp.MustCompile(`[A-Z]`).ReplaceAllString(name[1:], "-$0"))
			if listed[name] != word {
				t.Errorf("%s is listed as %q, want %q", name, listed[name], word)
			}
		}
	}
	if found != len(listed) {
		t.Errorf("%d faults in the source, %d in the vocabulary", found, len(listed))
	}
}

// whole allows everything: nodes with replicas, batches, and any size.
func whole() *Limits {
	delay := time.Second
	return &Limits{Names: Names{Clients: names.Clients, Nodes: append(slices.Clone(names.Nodes), "A2", "A3"), Replicas: replicated.Replicas}, Beyond: true, Scale: 10 * time.Second, Batches: true, Fenced: true, MaxTTL: 10 * time.Second, Random: true,
		Budget: Budget{ClockRate: PPM(1000), ClockStep: time.Second, Delay: time.Second, Pause: time.Second, Suspend: time.Second, RestartDelay: &delay, MemoryLoss: 1, CounterLoss: 1}}
}

// budgetKeys are the keys of a budget.
func budgetKeys() []string {
	var keys []string
	for i := range reflect.TypeFor[Budget]().NumField() {
		keys = append(keys, reflect.TypeFor[Budget]().Field(i).Tag.Get("yaml"))
	}
	return keys
}

// TestEveryKindIsWhole: each kind is drawn, and what is drawn makes sense, says what happens in words, names its target, gets
// smaller where it has a size, and says why tier live cannot have it if it cannot.
func TestEveryKindIsWhole(t *testing.T) {
	l := whole()
	for _, k := range Vocabulary() {
		if found, ok := Find(k.Name); !ok || found.Name != k.Name {
			t.Errorf("%s is not found", k.Name)
		}
		for _, key := range k.Takes {
			if !slices.Contains(budgetKeys(), key) {
				t.Errorf("%s takes from %s, which no budget has", k.Name, key)
			}
		}
		if k.Ends != "" && !slices.Contains(EventNames(), k.Ends) {
			t.Errorf("%s ends with an event that nothing can wait for", k.Name)
		}
		all := drawnOf(k, l)
		if len(all) == 0 {
			t.Errorf("%s is never drawn", k.Name)
		}
		for _, f := range all {
			checkWhole(t, k, f, l)
		}
	}
}

// drawnOf are faults of a kind that are drawn at random.
func drawnOf(k Kind, l *Limits) (all []Fault) {
	for seed := range kernel.Key(40) {
		if f := k.Draw(Drawn{kernel.Key(1).With(uint64(seed))}, l); f != nil {
			all = append(all, f)
		}
	}
	return all
}

func checkWhole(t *testing.T, k Kind, f Fault, l *Limits) {
	t.Helper()
	if reflect.TypeOf(f) != reflect.TypeOf(k.New()) {
		t.Errorf("%s gives a %T", k.Name, f)
	}
	if problems := Check(f, l.Names); problems != nil {
		t.Errorf("%s: %v: %v", k.Name, f, problems)
	}
	if text := f.String(); len(strings.Fields(text)) < 2 || strings.HasSuffix(text, ".") {
		t.Errorf("%s says %q", k.Name, text)
	}
	on := map[Target][]string{SomeLinks: {""}, OneNode: l.Names.Nodes, OneClient: l.Names.Clients, AnyProcess: l.Names.all()}[k.Target]
	if !slices.Contains(on, TargetOf(f)) {
		t.Errorf("%s: %v happens to %q, which is none of %v", k.Name, f, TargetOf(f), on)
	}
	if size := SizeOf(f); size != nil {
		other := size.With(7 * time.Second)
		if size.Value < 0 || size.Knob == "" || other == f || SizeOf(other).Value != 7*time.Second || SizeOf(f).Value != size.Value || TargetOf(other) != TargetOf(f) {
			t.Errorf("%s: %v has the size %+v and becomes %v", k.Name, f, size, other)
		}
	}
}

// TestWithinTheBudget: what is drawn within a budget that allows nothing takes nothing from it; what has a size is
// there only if the budget has one.
func TestWithinTheBudget(t *testing.T) {
	none := whole()
	none.Beyond, none.Budget = false, Budget{NoPowerLoss: true}
	sized := []string{"clock-step", "clock-rate", "delay", "pause", "suspend"}
	for _, k := range Vocabulary() {
		if !slices.ContainsFunc(k.Takes, func(key string) bool { return slices.Contains(sized, key) }) {
			continue
		}
		if all := drawnOf(k, none); len(all) > 0 {
			t.Errorf("%s is drawn without a budget: %v", k.Name, all)
		}
	}
}

// TestTakes: what a fault takes from the budget when it is injected is what its kind says, and no other key.
func TestTakes(t *testing.T) {
	for _, k := range Vocabulary() {
		for _, fault := range drawnOf(k, whole()) {
			f := newField(t, redis.NoPersistence)
			// A step of the node's clock makes the key expire at another time, and its replica knows it too.
			for node := range names.Nodes {
				set(f, 500*ms, node, "k", driver.OpAcquire, nil)
			}
			// A restart of a node that is up is an error.
			f.World.Kernel.After(time.Second, func() { _ = fault.Inject(f.Field) })
			f.World.Kernel.Run(kernel.True(time.Minute))
			u := f.Used
			for key, used := range map[string]bool{"clock-rate": u.ClockRate.PPB() != 0, "clock-step": u.ClockStep != 0, "delay": u.Delay != 0, "pause": u.Pause != 0,
				"suspend": u.Suspend != 0, "memory-loss": slices.ContainsFunc(u.Lost, func(l Loss) bool { return l.By == Restarted || l.By == EvictedFrom }), "no-power-loss": u.Unpowered != nil} {
				listed := slices.Contains(k.Takes, key)
				if used && !listed || listed && !used && key != "memory-loss" {
					t.Errorf("%s: %v takes from %s: %v, and is said to: %v", k.Name, fault, key, used, listed)
				}
			}
		}
	}
}
