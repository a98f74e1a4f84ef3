package kernel

import "testing"

func TestStepKindsHaveDifferentNumbers(t *testing.T) {
	number := StepTimeline.number
	if !panics(func() { NewStepKind(number, "another") }) || !panics(func() { NewMessageKind(number, "another") }) {
		t.Errorf("another kind was declared with number %d", number)
	}
}
