package uuid

import "testing"

func TestIs(t *testing.T) {
	t.Parallel()
	const id = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
	for text, want := range map[string]bool{
		id: true, "": false, id[1:]: false, id + "0": false, "7C9E6679-7425-40DE-944B-E07FC1F90AE7": false,
		"7c9e6679a7425-40de-944b-e07fc1f90ae7": false, "7c9e6679-7425-40de-944b-e07fc1f90a-7": false, "../e6679-7425-40de-944b-e07fc1f90ae7": false,
	} {
		if Is(text) != want {
			t.Errorf("%q: %t", text, !want)
		}
	}
}
