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

// queue is a heap of events, which know where in it they are.
type queue []*event

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (q queue) Len() int { return len(q) }

func (q queue) Less(i, j int) bool { return q[i].before(q[j]) }

func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

func (q *queue) Push(e any) {
	e.(*event).index = len(*q)
	*q = append(*q, e.(*event))
}

func (q *queue) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	e.index = -1
	return e
}

func (e *event) before(o *event) bool {
	return e.at < o.at || e.at == o.at && e.order < o.order
}

// ordinary puts an event behind those at the same time that were scheduled earlier; first puts it before all others, and
// resumed, of what waited for a paused process or was held back, before all ordinary ones.
const (
	first    = uint64(0)
	resumed  = uint64(1) << 62
	ordinary = uint64(1) << 63
)
