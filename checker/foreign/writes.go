package foreign

import (
	"slices"

	"github.com/anishathalye/porcupine"

	"redlocksim/checker"
)

// A resource that compares tokens accepts a write unless it has accepted one with a higher token before. Who holds the
// lock does not matter to it, and so writes are judged by themselves. One of unknown outcome may not have happened, and
// then shows nothing.

// split parts the operations on the lock from the writes that it protects.
func (h *recording) split(ops []int32) (onLock, writes []int32) {
	if !h.writes {
		return ops, nil
	}
	for _, i := range ops {
		if h.ops[i].fn == write {
			writes = append(writes, i)
		} else {
			onLock = append(onLock, i)
		}
	}
	return onLock, writes
}

// stale gives the writes that were accepted though one with a higher token had been before they were called.
func (h *recording) stale(writes []int32) (breaches []breach) {
	called := func(o *operation) int32 { return o.call }
	accepted := slices.DeleteFunc(slices.Clone(writes), func(i int32) bool { return h.ops[i].outcome != ok })
	before := h.highestBefore(accepted, called)
	for _, i := range h.inOrder(accepted, called) {
		if highest := before[i]; highest != none && h.ops[highest].token > h.ops[i].token {
			breaches = append(breaches, conflict(checker.StaleWrite, highest, i))
		}
	}
	return breaches
}

// accepted asks porcupine whether a resource that compares tokens can have accepted the writes.
func (h *recording) accepted(writes []int32, most int) (legal bool, undecided string) {
	var all []porcupine.Operation
	for _, i := range writes {
		if o := &h.ops[i]; o.outcome == ok {
			all = append(all, porcupine.Operation{Input: o.token, Call: int64(at(o.call)), Return: int64(at(o.ret))})
		}
	}
	type resource struct {
		highest int64
		written bool
	}
	model := porcupine.Model{
		Init: func() any { return resource{} },
		Step: func(st, in, _ any) (bool, any) {
			s, token := st.(resource), in.(int64)
			return !s.written || token >= s.highest, resource{token, true}
		},
	}
	return checker.Linearizable(model, all, most)
}
