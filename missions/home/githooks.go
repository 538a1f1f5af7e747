package home

// GitHookNames are the hooks by which Git tells that HEAD has moved, and when.
func GitHookNames() []string {
	return []string{"post-commit", "post-checkout", "post-merge", "post-rewrite"}
}
