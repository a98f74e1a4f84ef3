// Package rounded writes lengths of time for people: to three digits that matter, or whole seconds from a minute on. What
// must be exact is in traces, histories and JSON.
package rounded

import (
	"regexp"
	"time"
)

// Duration is a length of time to three digits: 1.11s, 998µs, 2m13s.
func Duration(d time.Duration) time.Duration { return d.Round(unit(d)) }

// unit is what the last of the three digits counts.
func unit(d time.Duration) time.Duration {
	if d.Abs() >= time.Minute {
		return time.Second
	}
	unit := time.Duration(1)
	for d.Abs().Round(unit) >= 1000*unit {
		unit *= 10
	}
	return unit
}

// duration is what is quoted in a text, or else a length of time as time.Duration writes it, after a space or a bracket:
// "90s" in a name is no length of time.
var duration = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|(^|[\s(])(-?(?:\d+(?:\.\d+)?(?:h|ms|m|s|µs|ns))+)\b`)

// Text is a text with every length of time in it rounded: for sentences that come out of a history or a finding, which keep
// them with exact figures, since histories are hashed. What is in double quotes is somebody's name and stays.
func Text(text string) string {
	return duration.ReplaceAllStringFunc(text, func(found string) string {
		parts := duration.FindStringSubmatch(found)
		d, err := time.ParseDuration(parts[2])
		if err != nil || Duration(d) == d {
			return found
		}
		return parts[1] + Duration(d).String()
	})
}
