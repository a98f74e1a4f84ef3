package sweep_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"redlocksim/search/sweep"
)

// A chart of somebody's settings says where they are: also those that an axis changes, and by the number of nodes.
func TestYours(t *testing.T) {
	for _, x := range []struct {
		text string
		want []string
	}{
		{"settings: {lock: {ttl: 8s}}\naxes: {budget.restart-delay: [1s], lock.ttl: [5s]}\nschedules: [restart]\n", []string{"", "8s"}},
		{"settings: {nodes: {names: [A, B, C]}, lock: {quorum: 2}}\naxes: {nodes.count: [3], lock.quorum: [2]}\nschedules: [restart]\n", []string{"3", "2"}},
		{"settings: {lock: {drift: {factor: 3%}}}\naxes: {lock.drift: ['{factor: 1%, constant: 0s}']}\nschedules: [restart]\n", []string{""}},
		{"preset: drift\nsettings: {lock: {drift: {factor: 3%}}, budget: {clock-rate: 1%}}\naxes: {budget.clock-rate: [2%], lock.drift.factor: [3%]}\n", []string{"1%", "3%"}},
		// A default is a value, too.
		{"settings: {lock: {ttl: 10s}}\naxes: {nodes.count: [3, 5], lock.ttl: [10s, 20s]}\nschedules: [restart]\n", []string{"5", "10s"}},
		{"axes: {budget.restart-delay: [1s]}\nschedules: [restart]\n", nil},
	} {
		path := filepath.Join(t.TempDir(), "sweep.yaml")
		if err := os.WriteFile(path, []byte(x.text), 0o666); err != nil {
			t.Fatal(err)
		}
		spec, err := sweep.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		chart, err := sweep.Run(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(chart.Yours, x.want) {
			t.Errorf("%s: %q, want %q", x.text, chart.Yours, x.want)
		}
	}
}

// A preset leaves somebody's own settings as they are, but for its axes.
func TestPresetsKeepSettings(t *testing.T) {
	start, err := sweep.Free(nil)
	if err != nil {
		t.Fatal(err)
	}
	setting, err := sweep.ParseSetting("lock.drift={factor: 3%, constant: 7ms}")
	if err != nil {
		t.Fatal(err)
	}
	own, err := start.Base.With(setting)
	if err != nil {
		t.Fatal(err)
	}
	names, _ := sweep.Presets()
	for _, name := range names {
		s, err := sweep.Preset(name, &own)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(s.Base, own) {
			t.Errorf("%s: %+v, want %+v", name, s.Base, own)
		}
	}
}
