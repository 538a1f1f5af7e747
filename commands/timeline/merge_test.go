package timeline

import "testing"

// TestEndings: who leaves the timeline waits for what runs, and nothing begins afterwards.
func TestEndings(t *testing.T) {
	t.Parallel()
	var e endings
	begun, goOn, ended := make(chan bool), make(chan bool), make(chan bool, 1)
	go e.do(func() {
		close(begun)
		<-goOn
		ended <- true
	})
	<-begun
	close(goOn)
	e.wait()
	select {
	case <-ended:
	default:
		t.Error("it was not waited for")
	}
	e.do(func() { t.Error("it has begun after the end") })
}
