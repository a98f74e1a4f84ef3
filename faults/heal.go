package faults

import "errors"

// healed is the name of the event at which all faults are undone.
const healed = "heal"

// errHealed is why a fault is not injected whose moment comes after the faults were healed.
var errHealed = errors.New("the moment came after the faults were healed")

// Heal undoes all faults that are in force, in the order in which they were injected, and lets none be injected any more: what
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
	f.note(healed, "", "", 0, "all faults are healed")
	for _, x := range f.inForce {
		x.end()
	}
	f.inForce = nil
	for _, name := range f.everyNode() {
		if !f.ground.Up(name) && !f.outages[name].comesBack && !f.replaced[name] {
			_ = f.restart(name) // it is down
		}
	}
}

// IsHealed says whether Heal was called.
func (f *Field) IsHealed() bool { return f.isHealed }
