package checker

import "redlocksim/history"

// Windows returns the believed windows of a history, those that [Check] judges, in the order of their grants and then of
// their beginnings. Of the Options, it looks at End only. Errors are those of Check.
func Windows(h history.History, o Options) ([]Window, error) {
	if len(h) == 0 {
		return nil, nil
	}
	if err := h.Validate(); err != nil {
		return nil, err
	}
	t, err := transcribe(whole(h), o.End)
	if err != nil {
		return nil, err
	}
	l := believe(t)
	windows := make([]Window, 0, len(l.windows))
	for grant := range t.ops {
		for _, s := range l.of(grant) {
			windows = append(windows, t.windowOf(grant, s))
		}
	}
	return windows, nil
}
