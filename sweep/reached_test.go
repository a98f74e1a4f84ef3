package sweep

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
)

// However many points there are, and in whatever order they come, the same few runs are kept of each kind of fault.
func TestSurveysInAnyOrder(t *testing.T) {
	want := map[string][]injected{
		"kill":  {{point: "00", number: 0}, {point: "00", number: 1}},
		"pause": {{point: "07", number: 3}, {point: "14", number: 3}},
	}
	for seed := range uint64(5) {
		g := &gathering{}
		for _, i := range rand.New(rand.NewPCG(seed, 0)).Perm(20) {
			s := &survey{}
			point := fmt.Sprintf("%02d", i)
			for number := range 4 {
				s.keep("kill", injected{point: point, number: number})
			}
			if i%7 == 0 && i > 0 {
				s.keep("pause", injected{point: point, number: 3})
			}
			g.add(s)
		}
		if !reflect.DeepEqual(g.sum.injected, want) {
			t.Errorf("seed %d: %+v", seed, g.sum.injected)
		}
	}
}
