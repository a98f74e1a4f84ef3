package sweep_test

import (
	"strings"
	"testing"

	"redlocksim/search/sweep"
)

func TestAxes(t *testing.T) {
	for text, want := range map[string]string{
		"lock.drift.factor=0%:0.3%:0.1%":              "0% 0.1% 0.2% 0.3%",
		"lock.ttl=1s,2s,5s":                           "1s 2s 5s",
		"lock.ttl=1s:2s:400ms":                        "1s 1.4s 1.8s",
		"lock.ttl=1s:1s:1ns,3s":                       "1s 3s",
		"lock.quorum=3:5:1":                           "3 4 5",
		"nodes.persistence=none, always":              "none always",
		"network.latency=1ms,{min: 1ms, max: 2ms}":    "1ms {min: 1ms, max: 2ms}",
		"nodes.names=[A, B, C],[A, B, C, D]":          "[A, B, C] [A, B, C, D]",
		"timeline[2].fault.clock-step.by=1s":          "1s",
		"budget.clock-rate=-0.000000000001%":          "-0.000000000001%",
		"budget.clock-rate=0.05%:0.050003%:0.000001%": "0.05% 0.050001% 0.050002% 0.050003%",
	} {
		var words []string
		for _, v := range axis(t, text).Values {
			words = append(words, v.Word)
		}
		if got := strings.Join(words, " "); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestBadAxes(t *testing.T) {
	for text, want := range map[string]string{
		"lock.ttl":                        "is not an axis",
		"lock ttl=1s":                     `"lock ttl" is not a path`,
		"lock.ttl=1s:5s:-1s":              "the step -1s is not positive",
		"lock.ttl=1s:5s:0s":               "the step 0s is not positive",
		"lock.ttl=5s:1s:1s":               "ends before it begins",
		"lock.ttl=1s:5s":                  "is not from:to:step",
		"lock.ttl=1s:5%:1s":               "mixes units: 1s and 5%",
		"lock.ttl=1s:x:1s":                `"x" is not a duration, a percentage or a whole number`,
		"lock.ttl=1s,,2s":                 "a value is missing",
		"lock.ttl=1s,2s,1s":               "the value 1s is there twice",
		"lock.ttl=0s:10h:1ns":             "has 36000000000001 values, at most 100000 are allowed",
		"budget.clock-rate=0%:1%:1e-999%": `"1e-999%" is not a duration`,
	} {
		if _, err := sweep.ParseAxis(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
