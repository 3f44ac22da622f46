def forms(): return []
