package kernel

// event is something that is to happen at a true time.
type event struct {
	pending
	at       True
	order    uint64   // among events at the same time
	index    int      // in the queue, −1 outside
	owner    *Process // whose event it is; nil: nobody's
	deadline deadline // the clock reading that at stands for, if the event is a timer
}

// pending is what is to happen, whenever that is.
type pending struct {
	handler Handler
	arg     int
	label   Label
}

// Fire does what waited for a paused process.
func (p pending) Fire(int) { p.handler.Fire(p.arg) }

// Dropped implements Droppable for what waits, however often it was put off.
func (p pending) Dropped() {
	if h, ok := p.handler.(Droppable); ok {
		h.Dropped()
	}
}

// Handler does what an event is for.
type Handler interface {
	// Fire is given the number that was scheduled with it.
	Fire(arg int)
}

// Droppable is a Handler that is told when the process has ended that was to take its event, so that it never will.
type Droppable interface {
	Handler
	Dropped()
}

// Idle is a Handler whose event may have lost its effect.
type Idle interface {
	Handler
	// Idle says whether Fire would do nothing.
	Idle(arg int) bool
}

// action is a handler of one purpose.
type action func()

func (a action) Fire(int) { a() }

// queue is a heap of events, four children to a node, which keeps the keys beside the pointers.
type queue []entry

type entry struct {
	at    True
	order uint64
	event *event
}

func (a *entry) before(b *entry) bool {
	return a.at < b.at || a.at == b.at && a.order < b.order
}

func (q *queue) push(e *event) {
	e.index = len(*q)
	*q = append(*q, entry{e.at, e.order, e})
	q.up(e.index)
}

func (q *queue) pop() *event {
	e := (*q)[0].event
	q.remove(e)
	return e
}

func (q *queue) remove(e *event) {
	i, last := e.index, len(*q)-1
	e.index = -1
	moved := (*q)[last]
	(*q)[last] = entry{}
	*q = (*q)[:last]
	if i == last {
		return
	}
	(*q)[i] = moved
	moved.event.index = i
	q.fix(i)
}

func (q *queue) fix(i int) {
	if !q.down(i) {
		q.up(i)
	}
}

func (q *queue) up(i int) {
	h := *q
	moving := h[i]
	for i > 0 {
		parent := (i - 1) / 4
		if !moving.before(&h[parent]) {
			break
		}
		h[i] = h[parent]
		h[i].event.index = i
		i = parent
	}
	h[i] = moving
	moving.event.index = i
}

func (q *queue) down(i int) (moved bool) {
	h := *q
	moving := h[i]
	for {
		first := 4*i + 1
		if first >= len(h) {
			break
		}
		least := first
		for c := first + 1; c < min(first+4, len(h)); c++ {
			if h[c].before(&h[least]) {
				least = c
			}
		}
		if !h[least].before(&moving) {
			break
		}
		h[i] = h[least]
		h[i].event.index = i
		i = least
		moved = true
	}
	h[i] = moving
	moving.event.index = i
	return moved
}

// ordinary puts an event behind those at the same time that were scheduled earlier; first puts it before all others, and
// resumed, of what waited for a paused process or was held back, before all ordinary ones.
const (
	first    = uint64(0)
	resumed  = uint64(1) << 62
	ordinary = uint64(1) << 63
)
