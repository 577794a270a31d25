CREATE INDEX "api_keys_of_project" ON "api_keys" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "authorizations_pending" ON "authorizations" USING btree ("project_id","expires_at") WHERE share_key is not null;--> statement-breakpoint
CREATE INDEX "chains_of_project" ON "chains" USING btree ("project_id","expires_at");--> statement-breakpoint
CREATE INDEX "connections_of_project" ON "connections" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "connections_of_user" ON "connections" USING btree ("project_id","user_id","id");--> statement-breakpoint
CREATE INDEX "connections_of_provider" ON "connections" USING btree ("provider_uid","id");--> statement-breakpoint
CREATE INDEX "connections_identity" ON "connections" USING btree ("provider_uid","provider_identity");--> statement-breakpoint
CREATE INDEX "executions_status" ON "executions" USING btree ("project_id","status","id") WHERE status <> 'completed';--> statement-breakpoint
CREATE INDEX "mcp_consents_of_project" ON "mcp_consents" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "mcp_consents_of_user" ON "mcp_consents" USING btree ("project_id","user_id","id");--> statement-breakpoint
CREATE INDEX "mcp_consents_last_use" ON "mcp_consents" USING btree ((case when last_used_at is null then created_at else last_used_at end));--> statement-breakpoint
DROP INDEX "api_keys_project";--> statement-breakpoint
DROP INDEX "connections_user";--> statement-breakpoint
DROP INDEX "connections_provider";--> statement-breakpoint
DROP INDEX "executions_due";--> statement-breakpoint
CREATE INDEX "executions_due" ON "executions" USING btree ("run_at","id") WHERE status = 'scheduled';