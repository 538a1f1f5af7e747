package transfer

import "testing"

// TestParsePush: what git says of each ref, and nothing of the others.
func TestParsePush(t *testing.T) {
	t.Parallel()
	refused, taken := parsePush([]byte("To /r.git\n*\t1:refs/umbra/a\t[new reference]\n!\t2:refs/umbra/b\t[rejected] (fetch first)\n=\t3:refs/umbra/c\t[up to date]\nnoise\nDone\n"))
	if len(refused) != 1 || refused["refs/umbra/b"] != "[rejected] (fetch first)" {
		t.Errorf("refused %q", refused)
	}
	if len(taken) != 2 || !taken["refs/umbra/a"] || !taken["refs/umbra/c"] {
		t.Errorf("taken %v", taken)
	}
}
