package guest

// turnsExport is the name under which a module exports the turns that it has left.
const turnsExport = "redlocksim turns"

// counting writes the code of a module anew so that it counts turns, of loops and calls of functions. A program that goes round
// for ever must end, after as many turns on every machine. At the beginning of each loop and each function, the code is now
//
//	if turns <= 0 { trap }
//	turns -= cost
//
// where turns is a global, and cost is larger in long functions. Copies have a cost, too. An engine that looks for itself
// whether it is to end makes programs in Go, whose functions are loops, take three times as long.
type counting struct {
	global uint64 // the number of turns among the globals; the next one is for the length of what is copied
}

// A turn is counted for so many bytes of a function's code, and for so many that are copied, as a power of two.
const codePerTurn, copiedShift = 256, 6

// declarations are the globals, with so many turns.
func (c counting) declarations(turns int) []byte {
	all := append(appendSigned([]byte{valueI64, mutable, opI64Const}, turns), opEnd)
	return append(all, valueI32, mutable, opI32Const, 0, opEnd)
}

// export is that of the turns, so that a guest can set them.
func (c counting) export() []byte {
	name := append(appendNumber(nil, uint64(len(turnsExport))), turnsExport...)
	return appendNumber(append(name, exportsGlobal), c.global)
}

// turn is the code at the beginning of a function or a loop.
func (c counting) turn(to []byte, cost int) []byte {
	get := appendNumber([]byte{opGlobalGet}, c.global)
	to = append(to, get...)
	to = append(to, opI64Const, 0, opI64LeS, opIf, noResult, opUnreachable, opEnd)
	to = append(to, get...)
	to = append(appendSigned(append(to, opI64Const), cost), opI64Sub)
	return appendNumber(append(to, opGlobalSet), c.global)
}

// copying is the code before an instruction that copies or fills, whose length is the last of its operands.
func (c counting) copying(to []byte) []byte {
	to = appendNumber(append(to, opGlobalSet), c.global+1)
	to = appendNumber(append(to, opGlobalGet), c.global)
	to = appendNumber(append(to, opGlobalGet), c.global+1)
	to = append(to, opI64ExtendU, opI64Const, copiedShift, opI64ShrU, opI64Sub)
	to = appendNumber(append(to, opGlobalSet), c.global)
	return appendNumber(append(to, opGlobalGet), c.global+1)
}

// function is the instructions of a function's body, behind its locals.
func (c counting) function(to []byte, r *reader) []byte {
	cost := 1 + len(r.rest)/codePerTurn
	to = c.turn(to, cost)
	for len(r.rest) > 0 {
		begin := r.rest
		switch op := r.byte(); op {
		case opGlobalGet, opGlobalSet:
			if r.number() >= c.global { // or it would be one of these
				r.fail("a global that is not there")
			}
		case opBulk:
			kind := r.number()
			if copies(kind) {
				to = c.copying(to)
			}
			r.numbers(ofBulk(kind))
		default:
			r.immediates(op)
		}
		to = append(to, begin[:len(begin)-len(r.rest)]...)
		if begin[0] == opLoop && r.err == nil {
			to = c.turn(to, cost)
		}
	}
	return to
}

// The instructions that matter here.
const (
	opUnreachable = 0x00
	opLoop        = 0x03
	opIf          = 0x04
	opEnd         = 0x0b
	opGlobalGet   = 0x23
	opGlobalSet   = 0x24
	opI32Const    = 0x41
	opI64Const    = 0x42
	opI64LeS      = 0x57
	opI64Sub      = 0x7d
	opI64ShrU     = 0x88
	opI64ExtendU  = 0xad // of 32 bits
	opBulk        = 0xfc

	valueI32      = 0x7f
	valueI64      = 0x7e
	mutable       = 1
	noResult      = 0x40
	exportsGlobal = 3
)

// immediates reads what stands behind an instruction.
func (r *reader) immediates(op byte) {
	switch {
	case op >= 0x02 && op <= opIf: // blocks, with their types
		r.number()
	case op == 0x0c, op == 0x0d, op == 0x10, op >= 0x20 && op <= 0x22, op == 0x25, op == 0x26, op == 0x3f, op == 0x40, op == opI32Const, op == opI64Const, op == 0xd0, op == 0xd2:
		r.number()
	case op == 0x0e: // br_table
		for range r.count(maxLocals*maxValues, "labels") {
			r.number()
		}
		r.number()
	case op == 0x11, op >= 0x28 && op <= 0x3e: // call_indirect, and accesses of the memory
		r.number()
		r.number()
	case op == 0x1c: // select, with types
		for range r.count(maxValues, "types") {
			r.value()
		}
	case op == 0x43:
		r.bytes(4)
	case op == 0x44:
		r.bytes(8)
	case op == 0xfd:
		r.vector(r.number())
	case op <= 0x01, op == 0x05, op == opEnd, op == 0x0f, op == 0x1a, op == 0x1b, op >= 0x45 && op <= 0xc4, op == 0xd1:
	default:
		r.fail("instruction %#x, which is not known here", op)
	}
}

func (r *reader) numbers(n int) {
	for range n {
		r.number()
	}
}

// ofBulk is how many numbers stand behind an instruction for whole memories and tables.
func ofBulk(op uint64) int {
	switch {
	case op < 8: // conversions, which are of the same kind
		return 0
	case op == 8, op == 10, op == 12, op == 14: // with two memories, tables or segments
		return 2
	}
	return 1
}

// copies says that such an instruction copies or fills, and so takes as long as its last operand says.
func copies(op uint64) bool {
	return op >= 8 && op <= 17 && op != 9 && op != 13 && op != 15 && op != 16
}

// vector reads what stands behind an instruction for vectors.
func (r *reader) vector(op uint64) {
	switch {
	case op <= 11, op == 92, op == 93: // accesses of the memory
		r.numbers(2)
	case op == 12, op == 13: // a constant, or as many lanes
		r.bytes(16)
	case op >= 21 && op <= 34: // of a lane
		r.bytes(1)
	case op >= 84 && op <= 91: // both
		r.numbers(2)
		r.bytes(1)
	}
}
