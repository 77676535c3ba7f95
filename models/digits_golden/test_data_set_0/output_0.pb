
BprobabilitiesJ(E´¡/x¥Ù2ñšS4hş?ˆ{,á–3”-=k_3IöÅ7©a»4