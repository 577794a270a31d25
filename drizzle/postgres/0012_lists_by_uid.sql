CREATE INDEX "providers_project" ON "providers" USING btree ("project_id","uid");--> statement-breakpoint
CREATE INDEX "tools_project" ON "tools" USING btree ("project_id","uid");