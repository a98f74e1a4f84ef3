package faults

import (
	"errors"
	"time"

	"redlocksim/history"
)

// Healed is the name of the event at which all faults are undone.
const Healed = "heal"

// ErrHealed is why a fault does not strike whose moment comes after the faults were healed.
var ErrHealed = errors.New("the moment came after the faults were healed")

// remedy undoes a fault that is in force, once.
type remedy struct {
	undo func()
	over bool
}

func (r *remedy) apply() {
	if !r.over {
		r.over = true
		r.undo()
	}
}

// lasts has a fault that is in force undone after d, or at the healing if that is earlier; if d is zero, at the healing
// only.
func (f *Field) lasts(d time.Duration, undo func()) {
	r := &remedy{undo: undo}
	f.inForce = append(f.inForce, r)
	if d > 0 {
		f.World.Kernel.After(d, r.apply)
	}
}

// Heal undoes all faults that are in force, in the order in which they struck, and lets none strike any more: what
// follows shows whether the lock comes back by itself once nothing goes wrong.
//
// Partitions mend, held messages arrive, delays and clock rates are taken back, paused and suspended processes go on, and
// nodes that are down start with what is on their disks, in the order of the world, replicas last.
//
// What is over is not undone: messages that were lost, clocks that were stepped, replicas that were promoted. What is no
// fault is left alone: a node whose restart is on its way keeps its delay, which may be what keeps the lock safe; one whose
// place a replica has taken stays down, as it would come back as a second master. And what no repair of nodes and
// network brings back is gone: clients that crashed, and work that is stuck.
func (f *Field) Heal() {
	f.isHealed = true
	f.World.Record(history.Event{Kind: history.Fault, Name: Healed, Detail: "all faults are healed"})
	for _, r := range f.inForce {
		r.apply()
	}
	f.inForce = nil
	for _, name := range everyNode(f.World) {
		if !f.World.Server(name).Up() && !f.down[name].comesBack && !f.replaced[name] {
			_ = (&Restart{Node: name}).Apply(f) // it is down
		}
	}
}
