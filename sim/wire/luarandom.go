package wire

import (
	"math"

	lua "github.com/yuin/gopher-lua"
)

// lrand48 is the random generator of redis-server's scripts: X is 48 bits, as in its rand.c. Since Redis 7 a server does not
// seed it for each script.
type lrand48 struct{ x uint64 }

// initial is what a server starts with.
const initial = 0x1234ABCD330E

func (r *lrand48) seed(to int32) { r.x = uint64(uint32(to))<<16 | 0x330E }

// next is from 0 to 2³¹ − 1.
func (r *lrand48) next() int32 {
	r.x = (0x5DEECE66D*r.x + 0xB) & (1<<48 - 1)
	return int32(r.x >> 17)
}

// random is math.random, as redis_math_random is.
func (in *interpreter) random(l *lua.LState) int {
	r := float64(in.lentTo.random.next()%math.MaxInt32) / math.MaxInt32
	switch l.GetTop() {
	case 0:
		l.Push(lua.LNumber(r))
	case 1:
		most := number(l, 1)
		if most < 1 {
			l.ArgError(1, "interval is empty")
		}
		l.Push(lua.LNumber(math.Floor(r*float64(most)) + 1))
	case 2:
		least, most := number(l, 1), number(l, 2)
		if least > most {
			l.ArgError(2, "interval is empty")
		}
		l.Push(lua.LNumber(math.Floor(r*float64(most-least+1)) + float64(least)))
	default:
		l.RaiseError("wrong number of arguments")
	}
	return 1
}

// randomseed is math.randomseed.
func (in *interpreter) randomseed(l *lua.LState) int {
	in.lentTo.random.seed(number(l, 1))
	return 0
}

// number is an argument as an int of C.
func number(l *lua.LState, n int) int32 { return int32(int64(l.CheckNumber(n))) }
