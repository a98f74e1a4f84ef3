package dpor

import (
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
)

// fingerprint stands for what each process experienced, whatever the order between processes, and for what the nodes know.
func fingerprint(h history.History, memories []kernel.Key) kernel.Key {
	of := map[string]kernel.Key{}
	type numbering struct{ process string }
	ops := map[int]int64{} // by number, its number among those of its process
	counts := map[numbering]int64{}
	number := func(process string, op int) uint64 {
		if op == 0 {
			return 0
		}
		if _, ok := ops[op]; !ok {
			counts[numbering{process}]++
			ops[op] = counts[numbering{process}]
		}
		return uint64(ops[op])
	}
	for i := range h {
		e := &h[i]
		of[e.Process] = of[e.Process].With(uint64(e.Time)).WithString(string(e.Kind)).WithString(string(e.Func)).WithString(string(e.Outcome)).
			WithString(e.Name).WithString(e.Resource).WithString(e.Node).WithString(e.Detail).With(uint64(e.Span)).With(uint64(e.Token)).With(number(e.Process, e.Op)).With(number(e.Process, e.Grant))
	}
	var all kernel.Key
	for process, k := range of { // in whatever order
		all ^= k.WithString(process)
	}
	for _, m := range memories {
		all = all.With(uint64(m))
	}
	return all
}
