package shrink

import (
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"redlocksim/faults"
	"redlocksim/scenarios"
)

// number is a number of a scenario that is not zero: a time, a length, a rate. get is without the sign, which set keeps.
type number struct {
	get   func() int64
	set   func(int64)
	sized *faults.Size // of the fault whose size it is, nil if it is no fault's
}

// worse is how much a number adds to a scenario's weight: the milder the fault, the less.
func (n *number) worse(value int64) int64 {
	if n.sized != nil && n.sized.Shrinks {
		return -value
	}
	return value
}

// numbers are all numbers of the timeline in the order of the file. For two scenarios that differ in the values of numbers
// only, they are the same numbers.
func numbers(s *scenarios.Scenario) []number {
	var all []number
	add := func(d *time.Duration) {
		if *d != 0 {
			all = append(all, number{get: func() int64 { return int64(d.Abs()) }, set: func(v int64) {
				if *d < 0 {
					v = -v
				}
				*d = time.Duration(v)
			}})
		}
	}
	for i := range s.Timeline {
		item := &s.Timeline[i]
		if item.When.After == nil {
			add(&item.When.At)
		} else {
			add(&item.When.Plus)
		}
		for j := range item.Do {
			step := &item.Do[j]
			for _, d := range []*time.Duration{&step.For, &step.TTL, step.Within, step.Cancel, &step.Wait, &step.Period, &step.Jitter, &step.MaxTime} {
				if d != nil {
					add(d)
				}
			}
		}
		if item.Fault == nil {
			continue
		}
		size := faults.SizeOf(item.Fault)
		if size != nil {
			all = append(all, number{sized: size, get: func() int64 { return int64(size.Value) }, set: func(v int64) {
				item.Fault = size.With(time.Duration(v))
			}})
		}
		leaves(reflect.ValueOf(item.Fault).Elem(), func(leaf reflect.Value) {
			switch v := leaf.Addr().Interface().(type) {
			case *time.Duration:
				if size == nil { // it is the size
					add(v)
				}
			case **time.Duration:
				if size == nil && *v != nil {
					add(*v)
				}
			case *faults.Rate:
				if ppb := v.PPB(); ppb != 0 {
					all = append(all, number{get: func() int64 { return max(ppb, -ppb) }, set: func(value int64) {
						if ppb < 0 {
							value = -value
						}
						*v = faults.RateOf(decimal.New(value, -9))
					}})
				}
			}
		})
	}
	return all
}

// distinct is how many different numbers a reader has to keep apart.
func distinct(s *scenarios.Scenario) int {
	different := map[int64]bool{}
	for _, n := range numbers(s) {
		different[n.get()] = true
	}
	return len(different)
}

// leaves calls f for every field of a fault that a file has a key for.
func leaves(v reflect.Value, f func(leaf reflect.Value)) {
	for i := range v.NumField() {
		switch tag, ok := v.Type().Field(i).Tag.Lookup("yaml"); {
		case !ok:
		case tag == ",inline":
			leaves(v.Field(i), f)
		default:
			f(v.Field(i))
		}
	}
}

// digits is how many digits a number has up to its last one that is not zero, 1 for zero.
func digits(v int64) int {
	return max(1, len(strings.TrimRight(strconv.FormatInt(v, 10), "0")))
}

// unit is the value of the last of the first n digits of v, which is positive.
func unit(v int64, n int) int64 {
	u := int64(1)
	for range len(strconv.FormatInt(v, 10)) - n {
		u *= 10
	}
	return u
}

// down and up are the next numbers of at most n digits. An up that overflows is negative, which no file takes.
func down(v int64, n int) int64 { return v / unit(v, n) * unit(v, n) }

func up(v int64, n int) int64 {
	if d := down(v, n); d < v {
		return d + unit(v, n)
	}
	return v
}
