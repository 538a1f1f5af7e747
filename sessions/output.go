package sessions

// OutputKeeping is a Follower that can keep what tools gave back. That is most of a
// conversation: it is kept only where it is asked for.
type OutputKeeping interface {
	// KeepOutput is called before anything is fed.
	KeepOutput()
}

// Keep has a call keep what it gave back, whose line ends at a place.
func (t *Tool) Keep(output string, stop int64) {
	if output != "" {
		t.Output, t.OutputStop = output, stop
	}
}
