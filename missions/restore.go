package missions

func (r RestoreRequest) Check() error {
	switch {
	case r.Mine && r.All:
		return Errorf(KindUsage, "choose one", "--mine and --all contradict each other")
	case r.FilesOnly && r.ConversationOnly:
		return Errorf(KindUsage, "leave both out to restore both", "--files-only and --conversation-only contradict each other")
	case len(r.Paths) > 0 && r.ConversationOnly:
		return Errorf(KindUsage, "leave out one of them", "--path is about files, --conversation-only leaves them alone")
	case r.Moment == "":
		return Errorf(KindUsage, "umbra log lists moments", "name the moment to restore")
	}
	return nil
}

// WithEmptyLists makes lists empty rather than absent.
func (r RestoreResult) WithEmptyLists() RestoreResult {
	for _, list := range []*[]string{&r.Modify, &r.Create, &r.Delete} {
		if *list == nil {
			*list = []string{}
		}
	}
	if r.Kept == nil {
		r.Kept = []PathReason{}
	}
	return r
}
