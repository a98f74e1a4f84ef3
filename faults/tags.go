package faults

import (
	"reflect"
	"strconv"
	"strings"
	"time"
)

// knob is a field of a fault that a scenario file can set. Links, Outage and Rate are checked and drawn by their types,
// names and lengths of time by their tags:
//
//	range:"0s.."      what a file can say, as package strictyaml has it: every number has one, unless it goes both ways
//	of:"node"         the name of one of these; see roles. The first says whom the fault happens to
//	budget:"pause"    the keys of the budget from which the fault takes by it. The first bounds it if both are lengths of time
//	from:"10ms"       searches choose it, from that on: up to what its key of the budget allows, or to two times to live
//	back:"yes"        it goes both ways
//	forever:"8"       one in eight that are drawn lasts for good
//	size:"the pause"  the one knob that makes the fault worse, in words; "the delay,less" if it does so the smaller it is
type knob struct {
	reflect.StructField
	value reflect.Value
}

// knobs are those of a fault, or of the struct that several share, in the order of the file.
func knobs(of any) []knob {
	v := reflect.ValueOf(of).Elem()
	all := make([]knob, v.NumField())
	for i := range all {
		all[i] = knob{v.Type().Field(i), v.Field(i)}
	}
	return all
}

// tagged are the knobs of a fault, those of what it shares with others included, that have a tag.
func tagged(f Fault, tag string) (all []knob) {
	v := reflect.ValueOf(f).Elem()
	for _, field := range reflect.VisibleFields(v.Type()) {
		if _, is := field.Tag.Lookup(tag); is {
			all = append(all, knob{field, v.FieldByIndex(field.Index)})
		}
	}
	return all
}

// key is the knob's name in scenario files, and required says that these must have it.
func (k knob) key() string {
	key, _, _ := strings.Cut(k.Tag.Get("yaml"), ",")
	return key
}

func (k knob) required() bool { return strings.HasSuffix(k.Tag.Get("yaml"), ",required") }

// number and length are what a tag says; zero if it is not there.
func (k knob) number(tag string) int64 {
	n, _ := strconv.ParseInt(k.Tag.Get(tag), 10, 64)
	return n
}

func (k knob) length(tag string) time.Duration {
	d, _ := time.ParseDuration(k.Tag.Get(tag))
	return d
}

// takes are the keys of the budget from which the fault takes by the knob.
func (k knob) takes() []string {
	if keys, is := k.Tag.Lookup("budget"); is {
		return strings.Split(keys, ",")
	}
	return nil
}
