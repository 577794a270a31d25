DROP INDEX "page_sessions_subject";--> statement-breakpoint
ALTER TABLE "mcp_consents" ADD COLUMN "verifier" text;--> statement-breakpoint
ALTER TABLE "mcp_records" ADD COLUMN "network" text;--> statement-breakpoint
CREATE INDEX "mcp_records_network" ON "mcp_records" USING btree ("network","expires_at","id") WHERE network is not null;--> statement-breakpoint
CREATE INDEX "page_sessions_of_subject" ON "page_sessions" USING btree ("subject","kind","project_id");