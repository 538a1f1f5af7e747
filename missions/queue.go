package missions

func (t TakeSnapshot) ChangesState() bool {
	switch t.Trigger {
	case TriggerTool, TriggerManual, TriggerWatch:
		return false
	}
	return true
}

// IsFilesOnly reports whether a request is about files alone: that only the
// conversation went on answers it with the snapshot there is.
func (t TakeSnapshot) IsFilesOnly() bool {
	return t.Trigger == TriggerTool || t.Trigger == TriggerWatch
}
