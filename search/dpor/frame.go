package dpor

import (
	"redlocksim/sim/kernel"
)

// frame is a point of a run at which something was chosen.
type frame struct {
	options []kernel.Option
	chosen  kernel.Option
	// backtrack is what to try here, the chosen one included, and sleep what need not be tried.
	backtrack []kernel.Key
	sleep     []sleeper
	late      int
}

// sleeper is a step that was tried at an earlier point, and leads to nothing new until a step that depends on it is made.
type sleeper struct {
	option kernel.Option
	footprint
}

func (f *frame) option(id kernel.Key) (kernel.Option, bool) {
	for _, o := range f.options {
		if o.ID == id {
			return o, true
		}
	}
	return kernel.Option{}, false
}

func (f *frame) sleeps(id kernel.Key) bool {
	for i := range f.sleep {
		if f.sleep[i].option.ID == id {
			return true
		}
	}
	return false
}

func (f *frame) tries(id kernel.Key) bool {
	for _, b := range f.backtrack {
		if b == id {
			return true
		}
	}
	return false
}

// next chooses something to try here that does not sleep; false if there is nothing.
func (f *frame) next() bool {
	for _, id := range f.backtrack {
		if f.sleeps(id) {
			continue
		}
		if o, ok := f.option(id); ok {
			f.chosen = o
			return true
		}
	}
	return false
}
