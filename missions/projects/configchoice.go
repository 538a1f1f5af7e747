package projects

// StoreLiveConfig makes the version that was noted beside the record part of it.
func (m *Mission) StoreLiveConfig() {
	if m.Live.ConfigCommit != "" {
		m.Stored.Config, m.Live.ConfigCommit = m.Live.ConfigCommit, ""
	}
}
