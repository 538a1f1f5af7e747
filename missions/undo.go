package missions

import (
	"slices"
)

// WithEarlier adds what was done to what an earlier step had done.
func (r RestoreResult) WithEarlier(first RestoreResult) RestoreResult {
	merge := func(a, b []string) []string {
		return slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(a), b...))))
	}
	if !first.Done {
		return r
	}
	r.Modify, r.Create, r.Delete = merge(first.Modify, r.Modify), merge(first.Create, r.Create), merge(first.Delete, r.Delete)
	r.Kept, r.Displaced = append(first.Kept, r.Kept...), append(first.Displaced, r.Displaced...)
	r.Notes, r.Partial, r.SafetySnapshot = append(first.Notes, r.Notes...), first.Partial || r.Partial, first.SafetySnapshot
	return r
}
